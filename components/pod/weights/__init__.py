"""Weights for an engine, fetched before it starts by an init container in its own image; standard library only.

refusal     what ends it, in one sentence
web         opens addresses
token       the hub's token, from a variable or from Secrets Manager
aws         signs questions to AWS with the pod's own rights
hub, s3     name the files of a source
download    brings one file, from where it was left, and checks it
store       a directory that is filled once, whoever comes first
present     looks at a directory that somebody else has filled
"""
