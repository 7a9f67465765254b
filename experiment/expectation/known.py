"""The models of the posts, out of the catalogue."""

from experiment.catalogue.models import Geometry, model
from experiment.errors import SplitbedError


def known(name: str) -> Geometry:
    """Return the geometry of a model that the catalogue must have.

    Raises:
        SplitbedError: it has lost it.
    """
    geometry = model(name)
    if geometry is None:
        raise SplitbedError(f"The catalogue of models has no {name}.", "Restore it in experiment/data/models.json.")
    return geometry
