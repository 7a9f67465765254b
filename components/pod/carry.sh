# Carries a directory to a bucket until it is told to stop, then once more: records are safe as soon as they are written.
# Arguments: directory, bucket with prefix, seconds between two looks, seconds for the last one.
# Half-written files and the lock stay here: both mean something to this pod alone.
directory=$1 bucket=$2 period=$3 grace=$4

carry() {
    aws s3 sync "$directory" "$bucket" --exclude lock --exclude '*.part' --only-show-errors
}

stopped=
trap 'stopped=yes' TERM
while [ -z "$stopped" ]; do
    carry || echo "records are not carried to $bucket yet; another try in $period s" >&2
    # A shell answers a signal only when what it waits for has ended, unless that is `wait`.
    sleep "$period" &
    wait "$!"
done
left=$grace
until carry; do
    left=$((left - period))
    [ "$left" -gt 0 ] || { echo "records in $directory were not carried to $bucket" >&2; exit 1; }
    sleep "$period"
done
