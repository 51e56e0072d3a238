// Opens one page and returns what a piece of JavaScript in it finds.
//
//   input.folder   served on http://127.0.0.1, or null
//   input.address  path below that folder, or a file:// URL
//   input.script   body of an async function that runs in the page with `input`; what it returns is the value
//   input.shot     a PNG of the page is written there, if given
import { run } from './harness.mjs';

run(async ({ input, page, serve }) => {
  const origin = input.folder === null ? '' : await serve({ '/': input.folder });
  await page.goto(origin + input.address);
  const value = await page.evaluate(
    ([script, given]) => new (async () => {}).constructor('input', script)(given),
    [input.script, input.input],
  );
  if (input.shot) await page.screenshot({ path: input.shot });
  return value;
});
