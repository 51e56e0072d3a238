"""Imports the bake {{doc}} into Unreal Engine 5: mesh, textures, materials and a crowd to look at.

In the editor: Tools > Execute Python Script, and choose this file. (The plugin "Python Editor Script Plugin" must be on, and for
glTF "Interchange Editor".) Run it again after a new bake: the assets are replaced.
"""
import importlib
import os
import sys

NAME = {{name}}
FOLDER = os.path.dirname(os.path.abspath(__file__))
# Where the assets go in the Content Browser.
CONTENT = "/Game/VAT/" + {{asset}}
# Instances that are put into the open level; 0 for none.
CROWD = 100

if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
import vat_unreal  # beside this file, the same for every bake

importlib.reload(vat_unreal)  # the editor keeps modules from the last run

BAKE = vat_unreal.import_bake(FOLDER, NAME, CONTENT)
if CROWD:
    vat_unreal.spawn_crowd(BAKE, CROWD)
