"""The live view: a page in the browser that shows every frame in 3D and has controls for thresholds.

``ui/page.py`` is the page, a `FrameSink`. ``session.py`` plays a recording, a camera or a results file on it. viser
serves the page and is imported when a server is opened.
"""
