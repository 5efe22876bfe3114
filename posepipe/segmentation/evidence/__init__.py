"""Numbers by which candidates, regions and views are judged: of their pixels, of their surface, and of the pose."""
