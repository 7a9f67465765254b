# Carries a directory to a bucket until it is told to stop, then once more: records are safe as soon as they are written.
# Arguments: directory, bucket with prefix, seconds between two looks, seconds for the last one.
# Half-written files and the lock stay here: both mean something to this pod alone.
directory=$1 bucket=$2 period=$3 grace=$4

# A client that refuses to measure makes no directory, which `aws` would call an error again and again.
# Without a bound of its own a connection that says nothing would outlast the pod.
carry() {
    [ -d "$directory" ] || return 0
    aws s3 sync "$directory" "$bucket" --exclude lock --exclude '*.part' --only-show-errors \
        --cli-connect-timeout 5 --cli-read-timeout 20
}

stopped=
trap 'stopped=yes' TERM
while [ -z "$stopped" ]; do
    carry || echo "records are not carried to $bucket yet; another try in $period s" >&2
    # A shell answers a signal only when what it waits for has ended, unless that is `wait`.
    sleep "$period" &
    wait "$!"
done
# By the clock: tries take their time, too, and after its grace the kubelet kills what is left.
last=$(($(date +%s) + grace))
until carry; do
    [ "$(($(date +%s) + period))" -lt "$last" ] || { echo "records in $directory were not carried to $bucket" >&2; exit 1; }
    sleep "$period"
done
