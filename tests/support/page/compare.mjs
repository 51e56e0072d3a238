// Pictures of the same moments by the preview page and by three.js, which skins the original file.
//
//   input.page     file:// URL of the preview page
//   input.model    folder of the original, and its file name
//   input.folder   where pictures go: page-0.png, three-0.png, ...
//   input.moments  [{ clip, animation, time, start, eye, target }, ...]: the bake's clip and the seconds since it began; the file's
//                  animation and the seconds at which the clip begins there
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../browser/harness.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const three = fileURLToPath(new URL('../node/node_modules/three/', import.meta.url));

run(async ({ input, page, serve }) => {
  await page.setViewportSize({ width: 480, height: 360 });
  const drawn = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.goto(input.page);
  await page.waitForSelector('html[data-state=ready]', { state: 'attached' });
  for (const [i, { clip, time, eye, target }] of input.moments.entries()) {
    const hash = `#ui=off&view=flat&paused&clip=${clip}&t=${time}&eye=${eye}&target=${target}`;
    await page.evaluate(h => { location.hash = h; }, hash);
    await drawn();
    await page.screenshot({ path: join(input.folder, `page-${i}.png`) });
  }
  const origin = await serve({ '/': here, '/three/': three, '/model/': input.model[0] });
  await page.goto(origin + '/skin.html');
  await page.waitForFunction(() => globalThis.ready);
  const names = await page.evaluate(url => load(url), '/model/' + encodeURIComponent(input.model[1]));
  for (const [i, { animation, time, start, eye, target }] of input.moments.entries()) {
    await page.evaluate(moment => show(moment), { animation, time: start + time, eye, target });
    await drawn();
    await page.screenshot({ path: join(input.folder, `three-${i}.png`) });
  }
  return names;
});
