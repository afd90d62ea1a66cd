"""Property tests draw the same examples each time, so that a change is judged by itself and not by luck.

`make search` draws twenty times as many, from a new seed each time; what it finds is printed to be repeated.
"""

import os

from hypothesis import HealthCheck, settings

# How fast an example is says more of the machine than of the code.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", PATIENT, derandomize=True)
settings.register_profile("search", PATIENT, derandomize=False, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("JUMBO_PROPERTIES", "same"))
