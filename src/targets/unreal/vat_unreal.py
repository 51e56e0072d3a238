"""Brings bakes of vatbake into Unreal Engine 5. import_NAME.py calls this; it is the same for every bake.

The first half is plain Python: it reads the GLB and finds out how the editor's importer turned its axes. The second half talks to
the editor. Each step says what it did in the Output Log, and a step that fails says what to do.
"""
import json
import math
import os
import struct
import tempfile


class VatError(RuntimeError):
    """Something that the person at the editor can change; the text says what."""


# ---- The GLB ------------------------------------------------------------------------------------------------------------------

def read_glb(path):
    """JSON and binary chunk of a GLB."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"glTF" or struct.unpack_from("<I", data, 8)[0] != len(data):
        raise VatError("not a whole GLB; copy the folder again or bake again: %s" % path)
    at, document, binary = 12, None, b""
    while at + 8 <= len(data):
        length, kind = struct.unpack_from("<II", data, at)
        chunk = data[at + 8:at + 8 + length]
        if kind == 0x4E4F534A:
            document = json.loads(chunk.decode("utf-8"))
        elif kind == 0x004E4942:
            binary = chunk
        at += 8 + length
    if document is None:
        raise VatError("the GLB holds no JSON; bake again: %s" % path)
    return document, binary


def read_floats(document, binary, index, width):
    """Rows of a float accessor. vatbake writes positions and lookup UVs as floats, tightly packed."""
    accessor = document["accessors"][index]
    if accessor["componentType"] != 5126 or "sparse" in accessor:
        raise VatError("accessor %d of the GLB is not made of plain floats; bake again without editing the GLB" % index)
    view = document["bufferViews"][accessor["bufferView"]]
    first = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    stride = view.get("byteStride", 4 * width)
    return [struct.unpack_from("<%df" % width, binary, first + row * stride) for row in range(accessor["count"])]


def vertex_number(uv, lookup, flipped=False):
    """Which vertex of the bake a lookup UV names."""
    v = 1.0 - uv[1] if flipped else uv[1]
    return math.floor(uv[0] * lookup["lanes"]) + lookup["lanes"] * math.floor(v * lookup["groups"])


def to_unreal(point):
    """A position of the GLB (metres, Y up, right-handed) where Unreal is expected to put it (centimetres, Z up, left-handed)."""
    return (point[0] * 100.0, point[2] * 100.0, point[1] * 100.0)


def read_rest(document, binary, lookup):
    """Expected rest position of each vertex number."""
    rest = {}
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            attributes = primitive["attributes"]
            positions = read_floats(document, binary, attributes["POSITION"], 3)
            uvs = read_floats(document, binary, attributes["TEXCOORD_%d" % lookup["texcoord"]], 2)
            for position, uv in zip(positions, uvs):
                rest[vertex_number(uv, lookup)] = to_unreal(position)
    return rest


# ---- The axes ----------------------------------------------------------------------------------------------------------------

# What is expected: nothing to turn.
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def signed_permutations():
    """The 48 ways to name and turn three axes, as rows; the expected one first, then rotations, then mirrors."""
    orders = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]
    found = []
    for number, order in enumerate(orders):
        for bits in range(8):
            signs = [-1.0 if bits >> axis & 1 else 1.0 for axis in range(3)]
            rows = tuple(tuple(signs[row] if column == order[row] else 0.0 for column in range(3)) for row in range(3))
            mirrored = (signs[0] * signs[1] * signs[2] < 0) != (number > 2)
            found.append((mirrored, rows))
    return [rows for _, rows in sorted(found, key=lambda pair: (pair[0], pair[1] != IDENTITY))]


def turn(rows, point):
    """The point in turned axes."""
    return tuple(sum(row[axis] * point[axis] for axis in range(3)) for row in rows)


def derive_axes(samples, rest, lookup):
    """How the imported mesh lies: (rows of a signed permutation, scale, whether v was turned over).

    `samples` are (lookup UV, position) of the imported vertices; `rest` is what read_rest() expects. Importers differ from version to
    version and obey project settings, so this is measured, not believed.
    """
    if not samples:
        raise VatError("the imported mesh has no vertices; reimport the GLB with Interchange and run the script again")
    for flipped in (False, True):
        numbers = [vertex_number(uv, lookup, flipped) for uv, _ in samples]
        pairs = [(rest.get(number), position) for number, (_, position) in zip(numbers, samples)]
        if any(expected is None for expected, _ in pairs):
            continue
        scale = _scale(pairs)
        if scale is None:
            continue
        size = max(abs(value) for _, position in pairs for value in position)
        for rows in signed_permutations():
            if all(_near(turn(rows, expected), position, scale, size) for expected, position in pairs):
                return rows, scale, flipped
    lost = sum(1 for uv, _ in samples if vertex_number(uv, lookup) not in rest)
    raise VatError(
        "the imported mesh does not lie where the bake's mesh lies, however its axes are turned (%d of %d vertices name no vertex of the "
        "bake). Import the GLB without offset, rotation or scale, with its UV channel %d kept, and run the script again"
        % (lost, len(samples), lookup["texcoord"]))


def _scale(pairs):
    expected = sum(value * value for point, _ in pairs for value in point)
    found = sum(value * value for _, point in pairs for value in point)
    return math.sqrt(found / expected) if expected > 0.0 and found > 0.0 else None


def _near(expected, position, scale, size):
    # a ten-thousandth of the model, which half floats would not keep, but an exchanged axis does not pass
    return all(abs(expected[axis] * scale - position[axis]) <= 1e-3 * size for axis in range(3))


def bounds_extensions(rest_box, box, rows, scale):
    """How far the animation reaches beyond the mesh's own box, to the negative and to the positive side of each axis, centimetres.

    Both boxes are (min, max) in the expected axes; the answer is in the mesh's own.
    """
    def turned(bounds):
        corners = [turn(rows, point) for point in bounds]
        return [[pick(corner[axis] for corner in corners) * scale for axis in range(3)] for pick in (min, max)]
    (rest_low, rest_high), (low, high) = turned(rest_box), turned(box)
    negative = [max(rest_low[axis] - low[axis], 0.0) for axis in range(3)]
    positive = [max(high[axis] - rest_high[axis], 0.0) for axis in range(3)]
    return negative, positive


# ---- The sidecar -------------------------------------------------------------------------------------------------------------

def read_sidecar(folder, name):
    """NAME.vat.json, refused where it was not baked for Unreal."""
    path = os.path.join(folder, name + ".vat.json")
    if not os.path.exists(path):
        raise VatError("there is no %s; keep the script in the folder that vatbake wrote" % path)
    with open(path, "r", encoding="utf-8") as file:
        sidecar = json.load(file)
    space = sidecar["space"]
    if (space["up"], space["handedness"], space.get("unit")) != ("+z", "left", "centimetre"):
        raise VatError("the bake is not in Unreal's axes; bake with --for unreal: %s" % path)
    return sidecar


def clip_data(clip):
    """The four floats that an instance carries: first frame, intervals (negative: once), frames a second, start time."""
    intervals = clip["frame_count"] - 1
    return [float(clip["first_frame"]), float(-intervals if clip["loop"] == "once" else intervals), float(clip["fps"]), 0.0]


def asset_name(text):
    """A name that Unreal takes for an asset."""
    return "".join(letter if letter.isalnum() else "_" for letter in text)


def find_texture(sidecar, role):
    """The texture of a role, or None."""
    return next((texture for texture in sidecar["textures"] if texture["role"] == role), None)


POSITION_ENCODINGS = ["offset-unorm", "absolute-unorm", "offset-float", "absolute-float"]
NORMAL_ENCODINGS = ["unit-unorm", "unit-float", "alpha-octahedral"]


def custom_code(shared, sidecar, flipped, result):
    """HLSL for a Custom node: the shared decode, this bake's numbers, and `result`."""
    position, normal = find_texture(sidecar, "position"), find_texture(sidecar, "normal")
    lookup = sidecar["mesh"]["lookup"]
    lines = [
        shared,
        "VatBake bake;",
        "bake.scale = float3(%s);" % ", ".join(repr(float(v)) for v in position.get("scale", [1, 1, 1])),
        "bake.bias = float3(%s);" % ", ".join(repr(float(v)) for v in position.get("bias", [0, 0, 0])),
        "bake.width = %du;" % sidecar["layout"]["width"],
        "bake.frames = %du;" % sidecar["frame_count"],
        "bake.lanes = %du;" % lookup["lanes"],
        "bake.groups = %du;" % lookup["groups"],
        "bake.position_encoding = %du;" % POSITION_ENCODINGS.index(position["encoding"]),
        "bake.normal_encoding = %du;" % (NORMAL_ENCODINGS.index(normal["encoding"]) if normal else 1),
        "float2 uv = float2(UV.x, %s);" % ("1.0 - UV.y" if flipped else "UV.y"),
        "float4 clip = float4(FirstFrame, Intervals, FramesPerSecond, StartTime);",
        "float now = Clock < 0.0 ? Time : Clock;",
        "VatPlayer player;",
        "VatPose pose = player.vat_pose(Positions, Normals, bake, Rest, uv, clip, now);",
        result,
    ]
    return "\n".join(lines)


# What the material adds to the vertex: where the animation has it, less where the mesh has it, in the mesh's axes.
OFFSET_RESULT = """float3 moved = pose.position - Rest;
return moved.x * AxisX + moved.y * AxisY + moved.z * AxisZ;"""
NORMAL_RESULT = "return normalize(pose.normal.x * AxisX + pose.normal.y * AxisY + pose.normal.z * AxisZ);"


# ---- The editor ----------------------------------------------------------------------------------------------------------------

class Bake:
    """What was imported, for spawn_crowd()."""

    def __init__(self, name, sidecar, mesh, materials):
        self.name, self.sidecar, self.mesh, self.materials = name, sidecar, mesh, materials


def import_bake(folder, name, content):
    """Imports everything below `content` (such as /Game/VAT/hero) and returns a Bake."""
    import unreal
    sidecar = read_sidecar(folder, name)
    for warning in limits(sidecar):
        unreal.log_warning("vatbake: " + warning)
    document, binary = read_glb(os.path.join(folder, sidecar["mesh"]["file"]))
    lookup = sidecar["mesh"]["lookup"]
    rest = read_rest(document, binary, lookup)

    mesh = _import_mesh(unreal, os.path.join(folder, sidecar["mesh"]["file"]), content, "SM_" + asset_name(name))
    rows, scale, flipped = derive_axes(_samples(unreal, mesh, lookup["texcoord"]), rest, lookup)
    if rows != IDENTITY or abs(scale - 1.0) > 1e-3 or flipped:
        unreal.log_warning("vatbake: the importer turned the mesh (axes %s, scale %g, v turned over: %s); the material does the same" % (
            rows, scale, flipped))
    rest_box = [[pick(point[axis] for point in rest.values()) for axis in range(3)] for pick in (min, max)]
    box = (sidecar["bounds"]["min"], sidecar["bounds"]["max"])
    negative, positive = bounds_extensions(rest_box, box, rows, scale)
    _set(mesh, "negative_bounds_extension", unreal.Vector(*negative))
    _set(mesh, "positive_bounds_extension", unreal.Vector(*positive))

    textures = {}
    for texture in sidecar["textures"]:
        textures[texture["role"]] = _import_data_texture(unreal, folder, texture, content)
    with open(os.path.join(folder, "vat_unreal.hlsl"), "r", encoding="utf-8") as file:
        shared = file.read()
    materials = []
    images = _Images(unreal, document, binary, content, asset_name(name))
    described = document.get("materials") or [{}]
    for number, material in enumerate(described):
        label = "M_%s_%d_%s" % (asset_name(name), number, asset_name(material.get("name", "material")))
        materials.append(_make_material(unreal, label, content, material, images, textures, shared, sidecar, rows, scale, flipped))
    _assign(unreal, mesh, described, materials)
    _save(unreal, mesh)
    unreal.log("vatbake: imported %s into %s: %d vertices, %d clips, %d material(s)" % (
        name, content, sidecar["vertex_count"], len(sidecar["clips"]), len(materials)))
    return Bake(name, sidecar, mesh, materials)


def limits(sidecar):
    """What this kit cannot show, a sentence each."""
    found = []
    stepped = [clip["name"] for clip in sidecar["clips"] if clip["stepped"]]
    if stepped:
        found.append("%d clip(s) jump between frames and are blended all the same: %s" % (len(stepped), ", ".join(map(str, stepped))))
    if find_texture(sidecar, "normal") is None:
        found.append("the bake has no normals, so light falls on the rest pose's; bake without --normals none")
    if find_texture(sidecar, "tangent") is not None:
        found.append("the tangents are imported, but the materials use no normal maps")
    return found


def _set(target, name, value):
    """Sets a property and makes sure that it holds, since the editor drops some values silently."""
    target.set_editor_property(name, value)
    if target.get_editor_property(name) != value:
        raise VatError("%s did not take %s = %s; set it by hand in its editor and run the script again" % (target.get_name(), name, value))


def _set_either(target, choices):
    """Sets the first property of a list that this version of the engine knows."""
    for name, value in choices:
        try:
            target.set_editor_property(name, value())
            return
        except Exception:  # an unknown property or enum is whatever the editor makes of it
            continue
    raise VatError("this engine version knows none of %s; report the version" % ", ".join(name for name, _ in choices))


def _save(unreal, asset):
    if not unreal.EditorAssetLibrary.save_loaded_asset(asset, only_if_is_dirty=False):
        raise VatError("%s could not be saved; is it checked out, and the folder writable?" % asset.get_path_name())


def _import_file(unreal, path, content, name, options=None):
    """Imports one file and returns the objects that came of it."""
    if not os.path.exists(path):
        raise VatError("there is no %s; copy the whole folder that vatbake wrote" % path)
    task = unreal.AssetImportTask()
    for key, value in (("filename", path), ("destination_path", content), ("destination_name", name),
                       ("automated", True), ("replace_existing", True), ("save", False)):
        task.set_editor_property(key, value)
    if options is not None:
        task.set_editor_property("options", options)
    unreal.AssetToolsHelpers.get_asset_tools().import_asset_tasks([task])
    return [unreal.load_asset(found) for found in task.get_editor_property("imported_object_paths")]


def _import_mesh(unreal, path, content, name):
    pipeline = unreal.InterchangeGenericAssetsPipeline()
    meshes = pipeline.get_editor_property("mesh_pipeline")
    common = pipeline.get_editor_property("common_meshes_properties")
    materials = pipeline.get_editor_property("material_pipeline")
    # one mesh, whatever its nodes; the old name is that of 5.0 to 5.5
    _set_either(meshes, [("combine_static_meshes_behavior", lambda: unreal.InterchangeCombineStaticMeshesBehavior.ALL),
                         ("combine_static_meshes", lambda: True)])
    for key, value in (("import_skeletal_meshes", False), ("build_nanite", False), ("generate_lightmap_u_vs", False),
                       ("collision", False)):
        meshes.set_editor_property(key, value)
    # triangles that are nothing in the rest pose may open in the animation, so none is removed
    for key, value in (("use_full_precision_u_vs", True), ("remove_degenerates", False), ("recompute_normals", False)):
        common.set_editor_property(key, value)
    materials.set_editor_property("import_materials", False)
    materials.get_editor_property("texture_pipeline").set_editor_property("import_textures", False)
    stack = unreal.InterchangePipelineStackOverride()
    stack.add_pipeline(pipeline)

    found = [asset for asset in _import_file(unreal, path, content, name, stack) if isinstance(asset, unreal.StaticMesh)]
    if len(found) != 1:
        raise VatError("the GLB became %d static meshes instead of 1; turn on the plugins for Interchange and glTF, delete %s and run "
                       "the script again" % (len(found), content))
    mesh = found[0]
    editor = unreal.get_editor_subsystem(unreal.StaticMeshEditorSubsystem)
    settings = editor.get_lod_build_settings(mesh, 0)
    for key, value in (("use_full_precision_u_vs", True), ("generate_lightmap_u_vs", False), ("remove_degenerates", False),
                       ("recompute_normals", False), ("recompute_tangents", False)):
        settings.set_editor_property(key, value)
    editor.set_lod_build_settings(mesh, 0, settings)
    nanite = mesh.get_editor_property("nanite_settings")
    nanite.set_editor_property("enabled", False)
    mesh.set_editor_property("nanite_settings", nanite)
    return mesh


def _samples(unreal, mesh, channel):
    """(lookup UV, position) of the imported vertices."""
    editor = unreal.get_editor_subsystem(unreal.StaticMeshEditorSubsystem)
    channels = editor.get_num_uv_channels(mesh, 0)
    if channels <= channel:
        raise VatError("the imported mesh has %d UV channel(s) and the lookup is channel %d; reimport it without removing UV channels" % (
            channels, channel))
    description = mesh.get_static_mesh_description(0)
    samples = []
    for number in range(description.get_vertex_instance_count()):
        instance = unreal.VertexInstanceID(number)
        if not description.is_vertex_instance_valid(instance):
            continue
        uv = description.get_vertex_instance_uv(instance, channel)
        point = description.get_vertex_position(description.get_vertex_instance_vertex(instance))
        samples.append(((uv.x, uv.y), (point.x, point.y, point.z)))
    return samples


def _import_data_texture(unreal, folder, texture, content):
    """A texture of numbers: as it is in the file, or the animation is wrong."""
    name = "T_" + asset_name(os.path.splitext(texture["file"])[0])
    found = [asset for asset in _import_file(unreal, os.path.join(folder, texture["file"]), content, name)
             if isinstance(asset, unreal.Texture2D)]
    if len(found) != 1:
        raise VatError("%s became %d textures instead of 1; delete %s and run the script again" % (texture["file"], len(found), content))
    asset = found[0]
    compression = unreal.TextureCompressionSettings
    _set(asset, "compression_settings", compression.TC_HDR_F32 if texture["pixel"] == "rgba32float" else compression.TC_HDR)
    _set(asset, "srgb", False)
    _set(asset, "filter", unreal.TextureFilter.TF_NEAREST)
    _set(asset, "mip_gen_settings", unreal.TextureMipGenSettings.TMGS_NO_MIPMAPS)
    _set(asset, "never_stream", True)
    _set(asset, "virtual_texture_streaming", False)
    _save(unreal, asset)
    return asset


class _Images:
    """Imports the pictures of the GLB that a material asks for, each once."""

    KINDS = {"image/png": ".png", "image/jpeg": ".jpg"}

    def __init__(self, unreal, document, binary, content, name):
        self.unreal, self.document, self.binary, self.content, self.name = unreal, document, binary, content, name
        self.found = {}

    def get(self, info, is_colour):
        """The texture asset of a glTF textureInfo, or None."""
        if info is None:
            return None
        texture = self.document["textures"][info["index"]]
        key = (texture.get("source"), is_colour)
        if key not in self.found:
            self.found[key] = self._import(texture.get("source"), is_colour)
        return self.found[key]

    def _import(self, source, is_colour):
        image = self.document["images"][source] if source is not None else {}
        ending = self.KINDS.get(image.get("mimeType"))
        if ending is None or "bufferView" not in image:
            self.unreal.log_warning("vatbake: image %s of the GLB is neither PNG nor JPEG; import it by hand" % source)
            return None
        view = self.document["bufferViews"][image["bufferView"]]
        first = view.get("byteOffset", 0)
        name = "T_%s_image%d%s" % (self.name, source, "" if is_colour else "_data")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name + ending)
            with open(path, "wb") as file:
                file.write(self.binary[first:first + view["byteLength"]])
            assets = [a for a in _import_file(self.unreal, path, self.content, name) if isinstance(a, self.unreal.Texture2D)]
        if not assets:
            raise VatError("image %d of the GLB could not be imported; look in the Output Log for the reason" % source)
        assets[0].set_editor_property("srgb", is_colour)
        _save(self.unreal, assets[0])
        return assets[0]


def _make_material(unreal, name, content, described, images, textures, shared, sidecar, rows, scale, flipped):
    """A material that moves the vertices and looks like one of the GLB's."""
    path = content + "/" + name
    library = unreal.MaterialEditingLibrary
    material = unreal.load_asset(path) if unreal.EditorAssetLibrary.does_asset_exist(path) else None
    if material is None:
        tools = unreal.AssetToolsHelpers.get_asset_tools()
        material = tools.create_asset(name, content, unreal.Material, unreal.MaterialFactoryNew())
    if material is None:
        raise VatError("the material %s could not be made; is %s writable?" % (name, content))
    library.delete_all_material_expressions(material)
    material.set_editor_property("used_with_instanced_static_meshes", True)
    # normals come in world space, made from the bake's
    material.set_editor_property("tangent_space_normal", find_texture(sidecar, "normal") is None)
    material.set_editor_property("two_sided", bool(described.get("doubleSided", False)))
    if described.get("alphaMode", "OPAQUE") != "OPAQUE":
        material.set_editor_property("blend_mode", unreal.BlendMode.BLEND_MASKED)
        material.set_editor_property("opacity_mask_clip_value", float(described.get("alphaCutoff", 0.5)))

    graph = _Graph(unreal, material)
    inputs = _player_inputs(graph, textures, sidecar, rows, scale)
    offset = graph.custom("vatbake: offset", custom_code(shared, sidecar, flipped, OFFSET_RESULT), inputs)
    graph.output(graph.to_world(offset), "", unreal.MaterialProperty.MP_WORLD_POSITION_OFFSET)
    if find_texture(sidecar, "normal") is not None:
        inputs.update(_axis_inputs(graph, rows, 1.0, "VatNormalAxis"))
        normal = graph.custom("vatbake: normal", custom_code(shared, sidecar, flipped, NORMAL_RESULT), inputs)
        # textures are read for each vertex, not for each pixel
        graph.output(graph.interpolate(graph.to_world(normal)), "", unreal.MaterialProperty.MP_NORMAL)
    _make_surface(unreal, graph, described, images)
    library.layout_material_expressions(material)
    library.recompile_material(material)
    _save(unreal, material)
    return material


def _axis_inputs(graph, rows, scale, label):
    """Where the expected X, Y and Z point in the imported mesh: the columns of the matrix, times its scale."""
    columns = [tuple(row[axis] * scale for row in rows) for axis in range(3)]
    return {"Axis" + letter: graph.vector(label + letter, column) for letter, column in zip("XYZ", columns)}


def _player_inputs(graph, textures, sidecar, rows, scale):
    unreal = graph.unreal
    is_absolute = find_texture(sidecar, "position")["encoding"].startswith("absolute")
    data = clip_data(sidecar["clips"][0])  # what a mesh that is no instance plays
    inputs = {
        "Positions": graph.node(unreal.MaterialExpressionTextureObject, texture=textures["position"]),
        "Normals": graph.node(unreal.MaterialExpressionTextureObject, texture=textures.get("normal", textures["position"])),
        "UV": graph.node(unreal.MaterialExpressionTextureCoordinate, coordinate_index=sidecar["mesh"]["lookup"]["texcoord"]),
        "Time": graph.node(unreal.MaterialExpressionTime),
        # 0 or more: the game's own clock instead of Time, by a parameter of a material instance
        "Clock": graph.node(unreal.MaterialExpressionScalarParameter, parameter_name="VatClock", default_value=-1.0),
    }
    for index, pin in enumerate(("FirstFrame", "Intervals", "FramesPerSecond", "StartTime")):
        inputs[pin] = graph.node(unreal.MaterialExpressionPerInstanceCustomData, data_index=index, const_default_value=data[index])
    # offsets need no rest position; what is absolute does, in the bake's axes
    if not is_absolute:
        inputs["Rest"] = graph.node(unreal.MaterialExpressionConstant3Vector, constant=unreal.LinearColor(0.0, 0.0, 0.0, 0.0))
    else:
        local = graph.node(unreal.MaterialExpressionPreSkinnedPosition)
        back = {"P": local}
        # the inverse of a signed permutation is its transpose
        for letter, axis in zip("XYZ", range(3)):
            back["Back" + letter] = graph.vector("VatBack" + letter, tuple(row[axis] / scale for row in rows))
        inputs["Rest"] = graph.custom("vatbake: rest", "return float3(dot(P, BackX), dot(P, BackY), dot(P, BackZ));", back)
    inputs.update(_axis_inputs(graph, rows, scale, "VatAxis"))
    return inputs


def _make_surface(unreal, graph, described, images):
    """Base colour, metal, roughness and glow, as glTF describes them."""
    pbr = described.get("pbrMetallicRoughness", {})
    factor = pbr.get("baseColorFactor", [1.0, 1.0, 1.0, 1.0])
    base = images.get(pbr.get("baseColorTexture"), True)
    colour = graph.vector("BaseColour", factor[:3])
    if base is not None:
        sample = graph.sample(base, pbr["baseColorTexture"].get("texCoord", 0), unreal.MaterialSamplerType.SAMPLERTYPE_COLOR)
        graph.output(graph.multiply(colour, "", sample, "RGB"), "", unreal.MaterialProperty.MP_BASE_COLOR)
        graph.output(sample, "A", unreal.MaterialProperty.MP_OPACITY_MASK)
    else:
        graph.output(colour, "", unreal.MaterialProperty.MP_BASE_COLOR)
    both = images.get(pbr.get("metallicRoughnessTexture"), False)
    kind = unreal.MaterialSamplerType.SAMPLERTYPE_LINEAR_COLOR
    sample = graph.sample(both, pbr["metallicRoughnessTexture"].get("texCoord", 0), kind) if both is not None else None
    for name, key, channel, target in (("Metallic", "metallicFactor", "B", unreal.MaterialProperty.MP_METALLIC),
                                       ("Roughness", "roughnessFactor", "G", unreal.MaterialProperty.MP_ROUGHNESS)):
        value = graph.node(unreal.MaterialExpressionScalarParameter, parameter_name=name, default_value=float(pbr.get(key, 1.0)))
        graph.output(graph.multiply(value, "", sample, channel) if sample is not None else value, "", target)
    glow = described.get("emissiveFactor", [0.0, 0.0, 0.0])
    if any(glow):
        colour = graph.vector("Emissive", glow)
        texture = images.get(described.get("emissiveTexture"), True)
        if texture is not None:
            sample = graph.sample(texture, described["emissiveTexture"].get("texCoord", 0), unreal.MaterialSamplerType.SAMPLERTYPE_COLOR)
            colour = graph.multiply(colour, "", sample, "RGB")
        graph.output(colour, "", unreal.MaterialProperty.MP_EMISSIVE_COLOR)


class _Graph:
    """Nodes of a material. A connection that the editor refuses is an error, not a hole."""

    def __init__(self, unreal, material):
        self.unreal, self.material, self.library = unreal, material, unreal.MaterialEditingLibrary

    def node(self, kind, **properties):
        node = self.library.create_material_expression(self.material, kind)
        for key, value in properties.items():
            node.set_editor_property(key, value)
        return node

    def vector(self, name, value):
        colour = self.unreal.LinearColor(value[0], value[1], value[2], 0.0)
        return self.node(self.unreal.MaterialExpressionVectorParameter, parameter_name=name, default_value=colour)

    def link(self, source, output, target, pin):
        if not self.library.connect_material_expressions(source, output, target, pin):
            raise VatError("the editor refused a connection to %s of %s; report the engine's version" % (pin or "the input", target.get_name()))

    def output(self, source, output, target):
        if not self.library.connect_material_property(source, output, target):
            raise VatError("the editor refused the connection to %s; report the engine's version" % target)

    def custom(self, title, code, inputs):
        kind = self.unreal.CustomMaterialOutputType.CMOT_FLOAT3
        node = self.node(self.unreal.MaterialExpressionCustom, description=title, output_type=kind, code=code)
        pins = []
        for name in inputs:
            pin = self.unreal.CustomInput()
            pin.set_editor_property("input_name", name)
            pins.append(pin)
        node.set_editor_property("inputs", pins)
        for name, source in inputs.items():
            self.link(source, "", node, name)
        return node

    def to_world(self, source):
        # "instance" is each instance's own transform; for a mesh alone it is the object's
        node = self.node(self.unreal.MaterialExpressionTransform,
                         transform_source_type=self.unreal.MaterialVectorCoordTransformSource.TRANSFORMSOURCE_INSTANCE,
                         transform_type=self.unreal.MaterialVectorCoordTransform.TRANSFORM_WORLD)
        self.link(source, "", node, "")
        return node

    def interpolate(self, source):
        node = self.node(self.unreal.MaterialExpressionVertexInterpolator)
        self.link(source, "", node, "")
        return node

    def sample(self, texture, channel, kind):
        uv = self.node(self.unreal.MaterialExpressionTextureCoordinate, coordinate_index=channel)
        node = self.node(self.unreal.MaterialExpressionTextureSample, texture=texture, sampler_type=kind)
        self.link(uv, "", node, "")
        return node

    def multiply(self, a, a_output, b, b_output):
        node = self.node(self.unreal.MaterialExpressionMultiply)
        self.link(a, a_output, node, "A")
        self.link(b, b_output, node, "B")
        return node


def _assign(unreal, mesh, described, materials):
    """Gives each slot the material of its name, else that of its place."""
    names = [material.get("name") for material in described]
    for place, slot in enumerate(mesh.get_editor_property("static_materials")):
        name = str(slot.get_editor_property("imported_material_slot_name"))
        number = names.index(name) if names.count(name) == 1 else place
        if number >= len(materials):
            raise VatError("slot %d (%s) of the mesh has no material among %d; delete the mesh and run the script again" % (
                place, name, len(materials)))
        mesh.set_material(place, materials[number])


def spawn_crowd(bake, count, spacing=None):
    """Puts a square of instances into the open level, one component for all; every clip gets its share."""
    import unreal
    clips = bake.sidecar["clips"]
    low, high = bake.sidecar["bounds"]["min"], bake.sidecar["bounds"]["max"]
    spacing = spacing or 1.25 * max(high[0] - low[0], high[1] - low[1], 1.0)
    actors = unreal.get_editor_subsystem(unreal.EditorActorSubsystem)
    actor = actors.spawn_actor_from_class(unreal.Actor, unreal.Vector(0.0, 0.0, 0.0))
    actor.set_actor_label("VAT_" + asset_name(bake.name))
    system, library = unreal.get_engine_subsystem(unreal.SubobjectDataSubsystem), unreal.SubobjectDataBlueprintFunctionLibrary
    parent = system.k2_gather_subobject_data_for_instance(actor)[0]
    handle, reason = system.add_new_subobject(unreal.AddNewSubobjectParams(
        parent_handle=parent, new_class=unreal.InstancedStaticMeshComponent, blueprint_context=None))
    if not library.is_handle_valid(handle):
        raise VatError("the level took no component (%s); open a level that can be edited and run the script again" % reason)
    component = library.get_object(library.get_data(handle))
    component.set_static_mesh(bake.mesh)
    component.set_editor_property("num_custom_data_floats", 4)
    columns = math.ceil(math.sqrt(count))
    for number in range(count):
        x, y = number % columns - (columns - 1) / 2.0, number // columns - (columns - 1) / 2.0
        place = unreal.Transform(location=unreal.Vector(x * spacing, y * spacing, 0.0))
        index = component.add_instance(place, False)
        data = clip_data(clips[number % len(clips)])
        data[1] = abs(data[1])  # a crowd that plays once would stand still
        # spread over the clip, by a golden ratio so that neighbours differ
        data[3] = -(number * 0.61803398875 % 1.0) * data[1] / max(data[2], 1e-3)
        for slot, value in enumerate(data):
            component.set_custom_data_value(index, slot, value, slot == 3)
    unreal.log("vatbake: %d instances in the actor %s" % (count, actor.get_actor_label()))
    return component
