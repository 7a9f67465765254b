"""The pure domain of an experiment: settings, names, arguments and arithmetic; no Pulumi, no network, no clock."""
