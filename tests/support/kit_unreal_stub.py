"""Stands in for Unreal's editor, so that a kit's script runs without one: `kit_unreal_stub.py SCRIPT RECORD.json [IMPORTER]`.

Every property that is set, every node and every connection is recorded. A property or an enum that is not listed here is an error,
as in the editor; the lists are what public scripts for Unreal 5 set. IMPORTER says how the mesh comes in: `expected` (x, z, y in
centimetres, UVs as half floats), `turned` (-z, x, y), `metres`, `upside-down` (v turned over), `bent` (a vertex out of place),
`old` (an engine that lacks combine_static_meshes_behavior), `no-lookup` (its UV channel lost).
"""
import json
import os
import runpy
import struct
import sys
import types

IMPORTER = "expected"
RECORD = {"imports": [], "assets": {}, "logs": [], "warnings": [], "saved": [], "instances": []}
OBJECTS = {}

PROPERTIES = {
    "StaticMesh": ["negative_bounds_extension", "positive_bounds_extension", "nanite_settings", "static_materials"],
    "Texture2D": ["compression_settings", "srgb", "filter", "mip_gen_settings", "never_stream", "virtual_texture_streaming"],
    "Material": ["used_with_instanced_static_meshes", "tangent_space_normal", "two_sided", "blend_mode", "opacity_mask_clip_value"],
    "AssetImportTask": ["filename", "destination_path", "destination_name", "automated", "replace_existing", "save", "options",
                        "imported_object_paths"],
    "InterchangeGenericAssetsPipeline": ["mesh_pipeline", "common_meshes_properties", "material_pipeline"],
    "MeshPipeline": ["combine_static_meshes_behavior", "combine_static_meshes", "import_skeletal_meshes", "build_nanite",
                     "generate_lightmap_u_vs", "collision"],
    "CommonMeshes": ["use_full_precision_u_vs", "remove_degenerates", "recompute_normals"],
    "MaterialPipeline": ["import_materials", "texture_pipeline"],
    "TexturePipeline": ["import_textures"],
    "BuildSettings": ["use_full_precision_u_vs", "generate_lightmap_u_vs", "remove_degenerates", "recompute_normals",
                      "recompute_tangents"],
    "NaniteSettings": ["enabled"],
    "StaticMaterial": ["imported_material_slot_name"],
    "CustomInput": ["input_name"],
    "InstancedStaticMeshComponent": ["num_custom_data_floats"],
    "MaterialExpressionTextureObject": ["texture"],
    "MaterialExpressionTextureSample": ["texture", "sampler_type"],
    "MaterialExpressionTextureCoordinate": ["coordinate_index"],
    "MaterialExpressionTime": [],
    "MaterialExpressionScalarParameter": ["parameter_name", "default_value"],
    "MaterialExpressionVectorParameter": ["parameter_name", "default_value"],
    "MaterialExpressionConstant3Vector": ["constant"],
    "MaterialExpressionPreSkinnedPosition": [],
    "MaterialExpressionPerInstanceCustomData": ["data_index", "const_default_value"],
    "MaterialExpressionCustom": ["description", "code", "output_type", "inputs"],
    "MaterialExpressionTransform": ["transform_source_type", "transform_type"],
    "MaterialExpressionVertexInterpolator": [],
    "MaterialExpressionMultiply": [],
}
# the first input is also the nameless one
INPUTS = {
    "MaterialExpressionTransform": ["Input"],
    "MaterialExpressionVertexInterpolator": ["VS"],
    "MaterialExpressionMultiply": ["A", "B"],
    "MaterialExpressionTextureSample": ["UVs"],
}
ENUMS = {
    "TextureCompressionSettings": ["TC_HDR", "TC_HDR_F32"],
    "TextureFilter": ["TF_NEAREST"],
    "TextureMipGenSettings": ["TMGS_NO_MIPMAPS"],
    "BlendMode": ["BLEND_MASKED"],
    "CustomMaterialOutputType": ["CMOT_FLOAT3"],
    "MaterialVectorCoordTransformSource": ["TRANSFORMSOURCE_INSTANCE"],
    "MaterialVectorCoordTransform": ["TRANSFORM_WORLD"],
    "MaterialSamplerType": ["SAMPLERTYPE_COLOR", "SAMPLERTYPE_LINEAR_COLOR"],
    "MaterialProperty": ["MP_WORLD_POSITION_OFFSET", "MP_NORMAL", "MP_BASE_COLOR", "MP_OPACITY_MASK", "MP_METALLIC", "MP_ROUGHNESS",
                         "MP_EMISSIVE_COLOR"],
    "InterchangeCombineStaticMeshesBehavior": ["ALL"],
}


class Thing:
    """An object of the editor with properties."""

    def __init__(self, name="", **properties):
        self.name, self.values = name, dict(properties)

    def get_name(self):
        return self.name

    def get_editor_property(self, name):
        self._know(name)
        return self.values.get(name)

    def set_editor_property(self, name, value):
        self._know(name)
        self.values[name] = value

    def _know(self, name):
        kind = type(self).__name__
        unknown = name not in PROPERTIES.get(kind, [])
        if unknown or (IMPORTER == "old" and name == "combine_static_meshes_behavior"):
            raise Exception("%s: Failed to find property '%s'" % (kind, name))


def kind_of(name):
    return type(name, (Thing,), {})


class Vector:
    def __init__(self, x=0.0, y=0.0, z=0.0):
        self.x, self.y, self.z = x, y, z

    def __eq__(self, other):
        return plain(self) == plain(other)


class LinearColor:
    def __init__(self, r=0.0, g=0.0, b=0.0, a=1.0):
        self.r, self.g, self.b, self.a = r, g, b, a


class Asset(Thing):
    def __init__(self, path, **properties):
        super().__init__(path.rsplit("/", 1)[1], **properties)
        self.path = path
        OBJECTS[path] = self

    def get_path_name(self):
        return self.path


class Texture2D(Asset):
    pass


class Material(Asset):
    def __init__(self, path):
        super().__init__(path)
        self.nodes, self.outputs = [], {}


class StaticMesh(Asset):
    def __init__(self, path, vertices, channels, slots):
        super().__init__(path, nanite_settings=module.NaniteSettings("nanite", enabled=True),
                         static_materials=[module.StaticMaterial("slot", imported_material_slot_name=slot) for slot in slots])
        self.vertices, self.channels, self.materials = vertices, channels, {}
        self.build = module.BuildSettings("build", use_full_precision_u_vs=False, generate_lightmap_u_vs=True)

    def get_static_mesh_description(self, lod):
        assert lod == 0
        return Description(self)

    def set_material(self, slot, material):
        self.materials[slot] = material


class VertexInstanceID:
    def __init__(self, id_value=0):
        self.id_value = id_value


class Description:
    """Vertex instances from the last to the first, with a gap: importers number as they like."""

    def __init__(self, mesh):
        self.mesh = mesh

    def get_vertex_instance_count(self):
        return len(self.mesh.vertices) + 1

    def is_vertex_instance_valid(self, instance):
        return instance.id_value != 0

    def _vertex(self, instance):
        assert self.is_vertex_instance_valid(instance), "the editor would crash"
        return self.mesh.vertices[-instance.id_value]

    def get_vertex_instance_vertex(self, instance):
        return instance

    def get_vertex_position(self, vertex):
        return Vector(*self._vertex(vertex)[0])

    def get_vertex_instance_uv(self, instance, channel):
        assert channel < self.mesh.channels, "the editor would crash"
        return types.SimpleNamespace(x=self._vertex(instance)[1][0], y=self._vertex(instance)[1][1])


def half(value):
    return struct.unpack("<e", struct.pack("<e", value))[0]


def import_mesh(path, place):
    """The GLB as Interchange brings it in, by an own reading of it."""
    data = open(path, "rb").read()
    length = struct.unpack_from("<I", data, 12)[0]
    document, binary = json.loads(data[20:20 + length]), data[28 + length:]

    def rows(index, width):
        accessor = document["accessors"][index]
        start = document["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return [struct.unpack_from("<%df" % width, binary, start + 4 * width * row) for row in range(accessor["count"])]

    name = os.path.basename(path).replace("_vat.glb", ".vat.json")
    with open(os.path.join(os.path.dirname(path), name), encoding="utf-8") as file:
        channel = json.load(file)["mesh"]["lookup"]["texcoord"]
    vertices, slots = [], []
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            attributes = primitive["attributes"]
            number = primitive.get("material")
            slots.append(document["materials"][number].get("name", "Material_%d" % number) if number is not None else "DefaultMaterial")
            for (x, y, z), (u, v) in zip(rows(attributes["POSITION"], 3), rows(attributes["TEXCOORD_%d" % channel], 2)):
                if IMPORTER == "turned":
                    point = (-z * 100.0, x * 100.0, y * 100.0)
                elif IMPORTER == "metres":
                    point = (x, z, y)
                else:
                    point = (x * 100.0, z * 100.0, y * 100.0)
                uv = (half(u), half(1.0 - v if IMPORTER == "upside-down" else v))
                vertices.append((point, uv))
    if IMPORTER == "bent":
        point, uv = vertices[len(vertices) // 2]
        vertices[len(vertices) // 2] = ((point[0] + 10.0, point[1], point[2]), uv)
    return StaticMesh(place, vertices, channel + (IMPORTER != "no-lookup"), slots)


class AssetTools:
    def import_asset_tasks(self, tasks):
        for task in tasks:
            path = task.get_editor_property("filename")
            place = task.get_editor_property("destination_path") + "/" + task.get_editor_property("destination_name")
            options = task.get_editor_property("options")
            RECORD["imports"].append({"file": os.path.basename(path), "to": place, "options": plain(options)})
            asset = import_mesh(path, place) if path.endswith(".glb") else Texture2D(place, srgb=True)
            task.set_editor_property("imported_object_paths", [asset.path])

    def create_asset(self, name, folder, kind, factory):
        return kind(folder + "/" + name)


class MaterialEditingLibrary:
    @staticmethod
    def delete_all_material_expressions(material):
        material.nodes.clear()
        material.outputs.clear()

    @staticmethod
    def create_material_expression(material, kind, x=0, y=0):
        node = kind("%s_%d" % (kind.__name__, len(material.nodes)))
        node.links = {}
        material.nodes.append(node)
        return node

    @staticmethod
    def connect_material_expressions(source, output, target, pin):
        kind = type(target).__name__
        if kind == "MaterialExpressionCustom":
            pins = [pin.get_editor_property("input_name") for pin in target.get_editor_property("inputs")]
        else:
            pins = INPUTS.get(kind, [])
        if pin not in pins and (pin or not pins):
            return False
        target.links[pin or pins[0]] = [source.name, output]
        return True

    @staticmethod
    def connect_material_property(source, output, target):
        for asset in OBJECTS.values():
            if isinstance(asset, Material) and source in asset.nodes:
                asset.outputs[target] = [source.name, output]
                return True
        return False

    @staticmethod
    def layout_material_expressions(material):
        pass

    @staticmethod
    def recompile_material(material):
        material.compiled = True


class Subsystem:
    def get_lod_build_settings(self, mesh, lod):
        return module.BuildSettings("copy", **mesh.build.values)

    def set_lod_build_settings(self, mesh, lod, settings):
        mesh.build = settings

    def get_num_uv_channels(self, mesh, lod):
        return mesh.channels

    def spawn_actor_from_class(self, kind, location):
        return kind("actor")

    def k2_gather_subobject_data_for_instance(self, actor):
        return [actor]

    def add_new_subobject(self, params):
        return params.new_class("component"), ""


class Actor(Thing):
    def set_actor_label(self, label):
        self.name = label

    def get_actor_label(self):
        return self.name


class InstancedStaticMeshComponent(Thing):
    def set_static_mesh(self, mesh):
        RECORD["crowd_mesh"] = mesh.path

    def add_instance(self, transform, world_space):
        RECORD["instances"].append({"at": plain(transform.location), "data": [None] * self.values["num_custom_data_floats"]})
        return len(RECORD["instances"]) - 1

    def set_custom_data_value(self, index, slot, value, mark_dirty=False):
        RECORD["instances"][index]["data"][slot] = value
        return True


def plain(value):
    """Anything recorded, as JSON."""
    if isinstance(value, Vector):
        return [value.x, value.y, value.z]
    if isinstance(value, LinearColor):
        return [value.r, value.g, value.b, value.a]
    if isinstance(value, Asset):
        return value.path
    if isinstance(value, Thing):
        return {key: plain(inner) for key, inner in value.values.items()}
    if isinstance(value, Stack):
        return [plain(pipeline) for pipeline in value.pipelines]
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    return value


class Stack:
    def __init__(self):
        self.pipelines = []

    def add_pipeline(self, pipeline):
        self.pipelines.append(pipeline)


def pipeline():
    textures = module.TexturePipeline("textures")
    return module.Pipeline("pipeline", mesh_pipeline=module.MeshPipeline("meshes"), common_meshes_properties=module.CommonMeshes("common"),
                           material_pipeline=module.MaterialPipeline("materials", texture_pipeline=textures))


def save(asset, only_if_is_dirty=True):
    RECORD["saved"].append(asset.path)
    return True


module = types.ModuleType("unreal")
for kind in list(PROPERTIES):
    if not hasattr(module, kind):
        setattr(module, kind, globals().get(kind) or kind_of(kind))
module.Pipeline = module.InterchangeGenericAssetsPipeline
module.InterchangeGenericAssetsPipeline = pipeline
for name, members in ENUMS.items():
    setattr(module, name, types.SimpleNamespace(**{member: name + "." + member for member in members}))
module.Vector, module.LinearColor, module.VertexInstanceID, module.Actor = Vector, LinearColor, VertexInstanceID, Actor
module.Transform = lambda location: types.SimpleNamespace(location=location)
module.MaterialFactoryNew = lambda: None
module.InterchangePipelineStackOverride = Stack
module.MaterialEditingLibrary = MaterialEditingLibrary
module.AssetToolsHelpers = types.SimpleNamespace(get_asset_tools=AssetTools)
module.EditorAssetLibrary = types.SimpleNamespace(save_loaded_asset=save, does_asset_exist=lambda path: path in OBJECTS)
module.load_asset = OBJECTS.get
module.StaticMeshEditorSubsystem = module.EditorActorSubsystem = module.SubobjectDataSubsystem = None
module.get_editor_subsystem = module.get_engine_subsystem = lambda kind: Subsystem()
module.SubobjectDataBlueprintFunctionLibrary = types.SimpleNamespace(
    is_handle_valid=lambda handle: handle is not None, get_data=lambda handle: handle, get_object=lambda data: data)
module.AddNewSubobjectParams = lambda **values: types.SimpleNamespace(**values)
module.log = RECORD["logs"].append
module.log_warning = RECORD["warnings"].append


def record_assets():
    for path, asset in OBJECTS.items():
        entry = {"kind": type(asset).__name__, "properties": plain(asset.values)}
        if isinstance(asset, Material):
            entry["nodes"] = {node.name: {"kind": type(node).__name__, "properties": plain(node.values), "links": node.links}
                              for node in asset.nodes}
            entry["outputs"] = asset.outputs
            entry["compiled"] = getattr(asset, "compiled", False)
        if isinstance(asset, StaticMesh):
            entry["build"] = plain(asset.build)
            entry["materials"] = {str(slot): material.path for slot, material in asset.materials.items()}
        RECORD["assets"][path] = entry


if __name__ == "__main__":
    script, record = sys.argv[1:3]
    IMPORTER = sys.argv[3] if len(sys.argv) > 3 else IMPORTER
    sys.dont_write_bytecode = True
    sys.modules["unreal"] = module
    try:
        runpy.run_path(script, run_name="__main__")
        RECORD["error"] = None
    except RuntimeError as error:
        if type(error).__name__ != "VatError":
            raise
        RECORD["error"] = str(error)
    record_assets()
    with open(record, "w", encoding="utf-8") as file:
        json.dump(RECORD, file)
