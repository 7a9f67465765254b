from experiment import arn, iam


def test_conditions_are_left_out_where_there_are_none() -> None:
    assert iam.allow(["s3:GetObject"], ["arn"]) == {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn"]}
    assert "Condition" not in str(iam.trust("ec2.amazonaws.com"))


def test_pod_identity_tags_its_sessions() -> None:
    assert iam.trust("pods.eks.amazonaws.com", tagged_session=True)["Statement"] == [
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
        }
    ]


def test_names_follow_the_regions_partition() -> None:
    assert arn.managed_policy("us-east-1", "P") == "arn:aws:iam::aws:policy/P"
    assert arn.managed_policy("cn-north-1", "P") == "arn:aws-cn:iam::aws:policy/P"
    assert arn.node_group("us-gov-west-1", "c", "g") == "arn:aws-us-gov:eks:us-gov-west-1:*:nodegroup/c/g/*"
