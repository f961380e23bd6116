"""The part of the Python guest that is written in Python.

It is frozen into the module, runs once when the image is made, and stays
out of sight afterwards: user code finds none of it in sys.modules.
"""
