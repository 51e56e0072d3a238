// Runs a check of three/stage.js beside a bake and its kit.
//
//   input.check    name of an exported function of stage.js, or `page`: the kit's own page is opened
//   input.bake     folder of the bake and the kit, served as /bake/
//   input.model    folder of the original model, served as /model/, if it is needed
//   input.version  of three.js
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './harness.mjs';

const here = fileURLToPath(new URL('./three/', import.meta.url));

run(async ({ input, page, serve }) => {
  const mounts = { '/': here, '/bake/': input.bake };
  if (input.model) mounts['/model/'] = input.model;
  const origin = await serve(mounts);
  if (input.check === 'page') return openPage(page, `${origin}/bake/${encodeURIComponent(input.name)}.html`);
  const stage = readFileSync(here + 'stage.html', 'utf8').replaceAll('VERSION', input.version);
  await page.route('**/stage.html', route => route.fulfill({ body: stage, contentType: 'text/html' }));
  await page.goto(`${origin}/stage.html`);
  return page.evaluate(async given => (await import('/stage.js'))[given.check](given), input);
});

// What the page shows: clips of its menu, and how many colours two pictures have and share, one before and one after a choice.
async function openPage(page, address) {
  await page.goto(address);
  await page.waitForFunction(() => document.querySelector('select')?.options.length > 0);
  const clips = await page.evaluate(() => [...document.querySelector('select').options].map(o => o.text));
  const take = async () => (await page.screenshot()).toString('base64');
  await page.waitForTimeout(500);
  const first = await take();
  await page.selectOption('select', String(clips.length - 1));
  await page.waitForTimeout(700);
  const second = await take();
  const colours = await page.evaluate(async png => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)).size;
  }, second);
  return { clips, moved: first !== second, colours };
}
