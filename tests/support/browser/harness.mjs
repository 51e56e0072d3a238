// Runs a piece of work in headless Chromium: JSON on stdin, JSON on stdout. Scripts beside this file use it; `tests/support/browser.rs`
// starts them.
//
//   run(async ({ input, page, serve }) => { ... return value })
//
//   input   what the test gave
//   page    a Playwright page; what it logs as an error, throws or fails to load is collected, and the test gets it
//   serve   serve({ '/': folder, ... }) puts folders on http://127.0.0.1 and returns the origin; file:// URLs work as well
//
// Nothing comes from the network: the one outside address that is answered is jsDelivr's of an npm package, from the copy in
// tests/support/node, and only if it asks for the version that lies there.
import { createServer } from 'node:http';
import { accessSync, constants, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../node/node_modules/', import.meta.url));
const CDN = 'https://cdn.jsdelivr.net/npm/';
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FLAGS = [
  '--no-sandbox', // with it, it does not start as root, which is what containers run as
  '--use-angle=swiftshader', // WebGL 2 without a GPU, the same pixels on every machine
  '--enable-unsafe-swiftshader',
  '--allow-file-access-from-files',
  '--hide-scrollbars',
];
const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.json': 'application/json', '.css': 'text/css',
  '.wasm': 'application/wasm', '.glb': 'model/gltf-binary', '.gltf': 'model/gltf+json', '.png': 'image/png', '.jpg': 'image/jpeg',
  '.ktx2': 'image/ktx2', '.exr': 'image/x-exr',
};
const typeOf = file => TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream';

function findChromium() {
  for (const name of NAMES) {
    for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch { /* not here */ }
    }
  }
  throw new Error(`no browser: none of ${NAMES.join(', ')} is in PATH; tests/run installs chromium`);
}

// The file below `folder` that a URL's path names, null where it leads out of the folder.
function within(folder, path) {
  const root = resolve(folder);
  const file = resolve(root, '.' + sep + decodeURIComponent(path));
  return file === root || file.startsWith(root + sep) ? file : null;
}

async function startServer(mounts) {
  const prefixes = Object.keys(mounts).sort((a, b) => b.length - a.length); // the longest first
  const server = createServer(async (request, response) => {
    try {
      const path = new URL(request.url, 'http://localhost').pathname;
      const prefix = prefixes.find(p => path.startsWith(p));
      const file = prefix && within(mounts[prefix], path.slice(prefix.length));
      const body = await readFile(file);
      response.writeHead(200, { 'content-type': typeOf(file), 'content-length': body.length }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done, failed) => server.once('error', failed).listen(0, '127.0.0.1', done));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

// Answers a request to jsDelivr from the npm package that lies here.
async function answerFromPackages(route) {
  const asked = new URL(route.request().url()).pathname.slice('/npm/'.length);
  const [, name, version, path] = /^((?:@[^/]+\/)?[^/@]+)@([^/]+)\/(.*)$/.exec(asked) ?? [];
  try {
    const here = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')).version;
    if (here !== version) throw new Error(`${name} ${version} is asked for, ${here} lies here`);
    const file = within(join(packages, name), path);
    await route.fulfill({ body: await readFile(file), contentType: typeOf(file), headers: { 'access-control-allow-origin': '*' } });
  } catch (error) {
    await route.fulfill({ status: 404, body: String(error), headers: { 'access-control-allow-origin': '*' } });
  }
}

async function preparePage(browser, size, errors, warnings) {
  const context = await browser.newContext({ viewport: size ?? { width: 800, height: 600 }, deviceScaleFactor: 1 });
  await context.route(/^https?:/, route => {
    const url = route.request().url();
    if (url.startsWith('http://127.0.0.1:')) return route.continue();
    return url.startsWith(CDN) ? answerFromPackages(route) : route.abort();
  });
  const page = await context.newPage();
  page.on('console', message => {
    const at = message.location().url;
    const text = message.text() + (at ? ` (${at})` : '');
    if (message.type() === 'error') errors.push(text);
    if (message.type() === 'warning') warnings.push(text);
  });
  page.on('pageerror', error => errors.push(String(error.stack ?? error)));
  page.on('requestfailed', request => {
    // Aborted: by the page itself, or closed before Chromium told the end of what was read. Missing data shows elsewhere.
    const text = request.failure()?.errorText;
    if (text !== 'net::ERR_ABORTED') errors.push(`${request.url()}: ${text}`);
  });
  page.on('response', response => { if (response.status() >= 400) errors.push(`${response.url()}: status ${response.status()}`); });
  return page;
}

/** Runs `work` and prints `{ value, errors, warnings }`; a failure is printed on stderr and ends with status 1. */
export async function run(work) {
  const { timeout, size, input } = JSON.parse(readFileSync(0, 'utf8'));
  const errors = [], warnings = [], servers = [];
  let browser, timer;
  try {
    const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
    browser = await chromium.launch({ executablePath: findChromium(), args: FLAGS, headless: true, timeout: 120000 });
    const page = await preparePage(browser, size, errors, warnings);
    const serve = async mounts => {
      const { server, origin } = await startServer(mounts);
      servers.push(server);
      return origin;
    };
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not done after ${timeout / 1000} s`)), timeout);
    });
    const value = await Promise.race([work({ input, page, serve }), late]);
    process.stdout.write(JSON.stringify({ value: value ?? null, errors, warnings }) + '\n');
  } catch (error) {
    process.stderr.write([error.stack ?? error, ...errors].join('\n') + '\n');
    process.exitCode = 1;
  } finally {
    clearTimeout(timer);
    await browser?.close();
    servers.forEach(server => { server.closeAllConnections(); server.close(); });
  }
}
