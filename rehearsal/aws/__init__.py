"""Doubles of Pulumi's `aws` and `eks` providers for the real engine, over an AWS that moto plays on this machine.

`world.World` is the whole of it: the services at one HTTP address, for boto3 and the commands of `scripts/`; the two
providers, which the engine attaches to; the clock by which end dates come; and what is to fail.
"""
