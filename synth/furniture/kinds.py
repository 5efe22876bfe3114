"""Kinds of furniture, and what names of models and of surface materials say about them."""

from __future__ import annotations

import re

MATERIALS = ("other", "wood", "cloth", "leather", "metal", "glass", "screen", "plant")
"""Classes of surfaces; a triangle's material is a row of this table."""

_KIND_WORDS = (
    ("", "child hut|shipping|fork lift|railing|fence|seesaw|swing|umbrella|rock|stone lantern|mailbox|rowboat|tent"),
    ("", "pool lounge|hedge|bush|garden hut|column|shutter|goal|barnum|chimney|fountain|snowman|wheelbarrow|motorbike"),
    ("", "tatami|sleeping bag|shower door|parking|rail|garage|plug|switch|socket|light bulb|scaffold|stair|escalator"),
    ("", "tree house|emergency"),
    ("wheelchair", "wheelchair"),
    ("thing", "hot dog|table fan|desk lamp|slippers|bootie|table tennis bat"),
    ("clothes", "suit|coathanger|clothes rack|coat"),
    ("pet", "bulldog|dog$|cat$|siamese cat"),
    ("toy", "toy|teddy|rocking horse|biplane|puzzle|car model|rubik|doll|xylophone|train|potty"),
    ("sport", "basketball|tennis racket|football$|soccer ball|table tennis"),
    ("cabinet", "television cabinet|tv stand|tv cabinet"),
    ("door", "screen door"),
    ("screen", "tv|television|monitor|screen|laptop|computer|imac"),
    ("wall thing", "wall light|cuckoo|clock|white board|whiteboard|picture|painting|mirror|poster|towel|shower head"),
    ("wall thing", "toilet paper|radiator|extinguisher|speech unit|air conditioner"),
    ("wall cabinet", "upper|glass door cabinet|hood|kitchen tools"),
    ("ceiling lamp", "ceiling|hanging light|pendant|fluorescent|chandelier"),
    ("lamp", "lamp|light|lantern|candle"),
    ("vase", "vase|tulip|lily|orchid|flacon"),
    ("plant", "plant|cactus|yucca|spathi|bamboo|flower|ficus|christmas|bonsai|palm|fern"),
    ("stool", "piano bench"),
    ("music", "piano|guitar|drum|violin|organ"),
    ("stool", "(?:.* )?stool|pouf|ottoman"),
    ("bench", "bench"),
    ("bed", "(?:.* )?bed$|baby bed|bunk|crib|futon$|mattress|cradle"),
    ("sofa", "(?:.* )?sofa|couch|futon couch|settee"),
    ("armchair", "armchair|relax chair|recliner|deck chair"),
    ("chair", "(?:.* )?chair|seat"),
    ("bedside table", "bedside|nightstand"),
    ("desk", "desk|technical table|workbench|dressing table"),
    ("screen", "tv$"),
    ("shelf", "shel|bookcase|rack$"),
    ("kitchen", "oven|fridge|refrigerator|cooktop|stove|lower|drawers cabinet|high cabinet|sink|island|dishwasher"),
    ("kitchen", "washing machine|cooker|freezer|kitchen|washer|dryer"),
    ("bathroom", "bath|toilet|washbasin|bidet|shower|vanity|urinal|wc|basin"),
    ("cabinet", "wardrobe|cupboard|cabinet|dresser|chest|drawers|locker|safe|closet|sideboard|hutch|buffet"),
    ("table", "(?:.* )?table$|table |billiard|football table"),
    ("box", "box|pallet|locked locker|crate|barrel|basket|dustbin|trash|carton|bin$"),
    ("bag", "bag|handbag|briefcase|backpack|suitcase|luggage"),
    ("door", "door"),
    ("window", "window"),
    ("curtain", "curtain|blind"),
    ("sport", "ball|racket|treadmill|fitness|abdominal|skateboard|dumbbell|bike"),
)
"""Kind -> words of a model's name, as a pattern; the first that matches decides, and "" leaves a model out."""

KINDS = (
    *("armchair", "bag", "bathroom", "bed", "bedside table", "bench", "box", "cabinet", "ceiling lamp", "chair"),
    *("clothes", "curtain", "desk", "door", "kitchen", "lamp", "music", "pet", "plant", "screen", "shelf", "sofa"),
    *("sport", "stool", "table", "thing", "toy", "vase", "wall cabinet", "wall thing", "wheelchair", "window"),
    *("bedding", "cable", "crutch", "walking frame", "coat stand", "cushion", "doll", "drying rack", "pillar"),
    "draped chair",
)
"""All kinds, those made by code alone among them. A "thing" is small and stands or lies on furniture."""

LEFT_OUT_CATEGORIES = ("characters", "vehicles", "staircases", "animals")
"""Categories of a catalogue that do not stand in rooms; their pets are taken."""
MAX_INDOOR_M = 3.2
MIN_INDOOR_M = 0.12
"""Largest extent of a model below which a depth camera shows nothing of it."""
MAX_THING_M = 0.5
"""Largest extent of a thing that stands on furniture."""

MIN_KITCHEN_M = 0.4
"""Height below which what belongs to a kitchen stands on furniture."""

_MATERIAL_WORDS = (
    ("screen", "screen|display|lcd"),
    ("glass", "glass|vidro|vitre|window|mirror|miroir|pane$"),
    ("leather", "leather|cuir"),
    ("cloth", "cloth|fabric|textile|cushion|pillow|sheet|mattress|matress|coverlet|tecido|towel|carpet|curtain|teddy"),
    ("cloth", "blanket|bedding|couch$|sofa$"),
    ("plant", "leaf|leaves|plant|blatt|blume|stem|cactus|flower|petal|grass|branch"),
    ("metal", "metal|chrom|steel|alu|inox|brass|iron|gold|silver|cromo|copper"),
    ("wood", "wood|oak|pine|cherry|bois|mahagoni|ash$|madeira|madera|walnut|parquet"),
)
_KIND_MATERIALS = {
    **dict.fromkeys(("sofa", "armchair", "bedding", "clothes", "curtain", "bed", "pet"), "cloth"),
    **dict.fromkeys(("table", "desk", "shelf", "cabinet", "bedside table", "chair", "stool", "door"), "wood"),
    "screen": "screen",
    "window": "glass",
    "plant": "plant",
    "vase": "plant",
}
"""Kind -> material of surfaces whose name says nothing."""
_PANES = 0.5
"""Opacity below which a surface counts as glass."""


def kind_of(name: str, category: str, size_m: tuple[float, float, float]) -> str | None:
    """Return the kind of a catalogue's model; None for what does not stand in rooms.

    Parameters
    ----------
    name, category : str
        In English, as the catalogue gives them.
    size_m : tuple of 3 floats, metres
    """
    found = next((kind for kind, words in _KIND_WORDS if re.search(rf"\b(?:{words})", name.lower())), None)
    if found == "kitchen" and size_m[1] < MIN_KITCHEN_M:
        found = "thing"
    if category.lower() in LEFT_OUT_CATEGORIES and found != "pet":
        return None
    if found == "" or not MIN_INDOOR_M <= max(size_m) <= MAX_INDOOR_M:
        return None
    if found is None:
        return "thing" if max(size_m) <= MAX_THING_M and category.lower() != "exterior" else None
    return found


def material_of(name: str, opacity: float, kind: str) -> int:
    """Return the row of MATERIALS for a surface, from its name, its opacity (0 to 1) and the kind of model."""
    found = next((each for each, words in _MATERIAL_WORDS if re.search(words, name.lower())), None)
    if found is None:
        found = "glass" if opacity < _PANES else _KIND_MATERIALS.get(kind, "other")
    return MATERIALS.index(found)
