"""All that can be known of an experiment before anything is made, put together from the settings alone."""
