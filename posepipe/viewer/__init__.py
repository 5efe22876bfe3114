"""The live view: a page in the browser that shows every frame in 3D and lets its thresholds be moved.

`page.py` is the page, a `FrameSink`; `session.py` plays a recording, a camera or a results file on it. viser, which
serves it, is imported when a page is opened.
"""
