// The decode of vatbake for a Custom node of an Unreal material: vat.hlsl with its functions in a struct, since a node's code is the
// body of one function, and with the textures handed from call to call. vat_unreal.py puts this, the numbers of a bake and a result
// into the nodes. An instance's four custom data floats are the clip, as vat.hlsl says:
//
//   first_frame, intervals (negative: play once), frames_per_second (0: show the frame that start_time names), start_time
