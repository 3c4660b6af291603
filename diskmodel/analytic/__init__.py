"""The questions that the engines answer, by formula: rules of thumb, queueing, mechanics, caches, reliability.

All times are seconds and all rates per second unless a name says otherwise. A formula tells what it leaves out; an
overloaded open queue has an infinite response and `is_stable` false, never an exception.
"""
