// Checks one file and prints what is wrong with it as a JSON array on stdout.
//
//   node check.mjs glb FILE.glb             errors and warnings of Khronos's glTF validator
//   node check.mjs json FILE.json SCHEMA    what the file breaks of a JSON Schema, draft 2020-12
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const [kind, file, schemaFile] = process.argv.slice(2);

async function checkGlb() {
  const { validateBytes } = require('gltf-validator');
  const report = await validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 0 });
  return report.issues.messages.filter(m => m.severity <= 1); // 0 error, 1 warning, 2 information, 3 hint
}

function checkJson() {
  const Ajv = require('ajv/dist/2020').default;
  // Formats such as `uint32` only narrow a number that the schema has limited already.
  const ajv = new Ajv({ allErrors: true, strict: false, strictSchema: true, validateFormats: false });
  const validate = ajv.compile(JSON.parse(readFileSync(schemaFile, 'utf8')));
  return validate(JSON.parse(readFileSync(file, 'utf8'))) ? [] : validate.errors;
}

const checks = { glb: checkGlb, json: checkJson };
if (!checks[kind]) throw new Error(`unknown check ${kind}: glb or json`);
console.log(JSON.stringify(await checks[kind]()));
