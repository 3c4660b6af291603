"""A virtual disk from mean responses: one server that answers in batches."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from calibrate.virtual_disk.fit import MODEL_ERROR, ServerFit, fit_single_server, robust_chi2
    from calibrate.virtual_disk.profile import parameters_of, profile_of
    from calibrate.virtual_disk.responses import responses_of

__getattr__ = face(
    __name__,
    {
        "fit": "MODEL_ERROR ServerFit fit_single_server robust_chi2",
        "profile": "parameters_of profile_of",
        "responses": "responses_of",
    },
)
