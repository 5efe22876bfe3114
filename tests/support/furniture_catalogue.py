"""A small catalogue of furniture in the form of Sweet Home 3D."""

from __future__ import annotations

import zipfile

#: a wedge: its slope rises from the front, z = 1, to the back
OBJ = """
mtllib chair.mtl
v 0 0 0
v 2 0 0
v 2 0 1
v 0 0 1
v 0 4 0
v 2 4 0
usemtl oak
f 1 2 3 4
f 1/1 2/2 6/3 5/4
usemtl fabric
f -3 -4 2 6
f 4 5 1
f 3 2 6
f 4 3 6 5
"""
MTL = "newmtl oak\nd 1.0\nnewmtl fabric\nTr 0.2\n"
TABLE = """
# a comment
license=Public domain
name#1=Chair
category#1=Living room
model#1=/models/chair/chair.obj
width#1=50
depth#1=60
height#1=90
dropOnTopElevation#1=45
creator#1=Some\\u00e9one
name#2=Lorry
category#2=Vehicles
model#2=/models/chair/chair.obj
width#2=50
depth#2=60
height#2=90
name#3=Table
category#3=Living room
model#3=/models/table/table.obj
modelRotation#3=1 0 0 0 0 1 0 -1 0
width#3=100
depth#3=80
height#3=75
"""


def write_catalogue(path, properties=TABLE, **licences):
    with zipfile.ZipFile(path, "w") as archive:
        if properties is not None:
            archive.writestr("PluginFurnitureCatalog.properties", properties)
        for name in ("chair", "table"):
            archive.writestr(f"models/{name}/{name}.obj", OBJ)
            archive.writestr(f"models/{name}/chair.mtl", MTL)
        for name, text in licences.items():
            archive.writestr(f"models/{name}/LICENSE.txt", text)
    return path
