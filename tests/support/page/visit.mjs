// Visits preview pages as a person would, step by step, in a window of its own.
//
//   input.address  a file:// URL
//   input.window   options of the window: viewport, colorScheme, hasTouch, ...
//   input.folder   where pictures go
//   input.steps    [what, ...arguments], see `does` below
//
// Returns { told, errors, requests }: what the steps returned, what went wrong in the page, and every URL that it asked for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../browser/harness.mjs';

const axe = fileURLToPath(new URL('../node/node_modules/axe-core/axe.min.js', import.meta.url));

/** Before the page's scripts: notes every draw call since the last picture began. */
function watchCalls() {
  globalThis.calls = [];
  for (const name of ['drawElementsInstanced', 'drawArraysInstanced', 'drawElements', 'drawArrays']) {
    const original = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...given) {
      calls.push([name, ...given]);
      return original.apply(this, given);
    };
  }
  const original = WebGL2RenderingContext.prototype.clear;
  WebGL2RenderingContext.prototype.clear = function (...given) {
    calls = [];
    return original.apply(this, given);
  };
}

/** What the page shows, to the eye and to assistive technology. */
function look() {
  const text = id => document.getElementById(id).textContent;
  const chosen = id => document.querySelector(`#${id} :checked`)?.parentElement.querySelector('b, span').textContent ?? null;
  const style = getComputedStyle(document.body);
  return {
    state: document.documentElement.dataset.state, title: document.title, cover: text('cover-text'), play: text('play'),
    clip: chosen('clips'), view: chosen('views'), clock: text('clock'), caption: text('caption'), live: text('live'),
    crowd: text('crowd-text'), rate: text('rate'), speed: text('speed-text'), note: text('view-note'),
    loop: document.getElementById('loop').checked, blend: document.getElementById('blend').checked,
    scrub: Number(document.getElementById('scrub').value), scrubText: document.getElementById('scrub').getAttribute('aria-valuetext'),
    label: document.getElementById('canvas').getAttribute('aria-label'), facts: text('facts'), help: document.getElementById('help').open,
    back: style.backgroundColor, ink: style.color, wide: document.documentElement.scrollWidth > innerWidth, images: document.images.length,
    clips: [...document.querySelectorAll('#clips b')].map(e => e.textContent), hacked: globalThis.hacked ?? null,
    focus: document.activeElement.id || document.activeElement.name || document.activeElement.tagName,
  };
}

run(async ({ input, page: harness }) => {
  const size = { viewport: { width: 480, height: 360 }, deviceScaleFactor: 1 };
  const context = await harness.context().browser().newContext({ ...size, ...input.window });
  await context.addInitScript(watchCalls);
  const page = await context.newPage();
  const errors = [], requests = [], told = [];
  page.on('console', m => { if (m.type() === 'error') errors.push(m.text()); });
  page.on('pageerror', e => errors.push(String(e.stack ?? e)));
  page.on('request', r => requests.push(r.url().split('#')[0]));
  const drawn = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  const session = await context.newCDPSession(page);
  const does = {
    // Runs before the page's own scripts.
    before: code => context.addInitScript(code).then(() => undefined),
    open: async hash => {
      await page.goto(input.address + hash);
      await page.waitForSelector('html[data-state]', { state: 'attached' });
      await drawn();
    },
    // The same page at another address.
    at: async hash => {
      await page.evaluate(h => { location.hash = h; }, hash);
      await drawn();
    },
    shot: name => page.screenshot({ path: join(input.folder, name + '.png') }).then(() => undefined),
    look: () => page.evaluate(look),
    calls: async () => {
      await drawn();
      return page.evaluate(() => calls);
    },
    press: async (...keys) => {
      for (const key of keys) await page.keyboard.press(key);
      await drawn();
    },
    click: async selector => {
      await page.click(selector);
      await drawn();
    },
    drag: async (from, to, button) => {
      await page.mouse.move(...from);
      await page.mouse.down({ button: button ?? 'left' });
      await page.mouse.move(...to, { steps: 4 });
      await page.mouse.up({ button: button ?? 'left' });
      await drawn();
    },
    wheel: async by => {
      await page.mouse.wheel(0, by);
      await drawn();
    },
    // Fingers, each from one point to another.
    touch: async (...fingers) => {
      const points = share => fingers.map(([a, b], id) => ({ x: a[0] + (b[0] - a[0]) * share, y: a[1] + (b[1] - a[1]) * share, id }));
      const send = (type, touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
      await send('touchStart', points(0));
      for (const share of [0.25, 0.5, 0.75, 1]) await send('touchMove', points(share));
      await send('touchEnd', []);
      await drawn();
    },
    focus: selector => page.evaluate(s => { document.activeElement.blur(); document.querySelector(s).focus(); }, selector),
    // Takes the words away that name a control.
    unlabel: selector => page.evaluate(s => {
      const control = document.querySelector(s);
      control.parentElement.replaceWith(control);
    }, selector),
    wait: ms => page.waitForTimeout(ms),
    // Faults that axe-core finds: rule and elements.
    axe: async () => {
      await page.evaluate(readFileSync(axe, 'utf8'));
      const { violations } = await page.evaluate(() => globalThis.axe.run({ iframes: false }));
      return violations.map(v => `${v.id}: ${v.nodes.map(n => n.target.join(' ')).join(', ')}`);
    },
  };
  for (const [what, ...given] of input.steps) {
    const found = await does[what](...given);
    if (found !== undefined) told.push(found);
  }
  await context.close();
  return { told, errors, requests };
});
