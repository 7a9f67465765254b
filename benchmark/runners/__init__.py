"""How each kind of test is played. A runner sends requests on a stage; what they say is read when it is over."""
