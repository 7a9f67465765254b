"""AWS as it is at this moment, seen through boto3, and the places where versions are looked up."""
