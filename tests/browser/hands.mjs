// The two ways in which people use a page: with a pointer, and with keys alone. A job is written once, and done in both.
import assert from 'node:assert/strict';

// What is more Tabs away than this is out of reach.
const MOST = 150;

// Where an element is, seen from what has the focus. Runs in the page, as the functions below do.
const whereabouts = (target) => {
  const active = document.activeElement;
  if (active === target) return 'here';
  if (!active || active === document.body) return 'unknown';
  if (active.matches('.skip') && target.closest('main')) return 'behind the skip link';
  return active.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_PRECEDING ? 'before' : 'after';
};

// Why nobody sees that an element has the focus, if so.
const unseen = (target) => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(target);
  const isMarked = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
  if (!isMarked) return 'nothing marks it';
  const shows = (x, y) => {
    const top = document.elementFromPoint(x, y);
    return top && (target.contains(top) || top.contains(target));
  };
  // A link of two lines has a box for each.
  const parts = [...target.getClientRects()].flatMap(({ left, top, width, height }) =>
    [0.1, 0.5, 0.9].map((share) => [left + width * share, top + height / 2]),
  );
  return parts.some(([x, y]) => shows(x, y)) ? '' : 'it is out of sight';
};

// The key that uses a control, and whether it leads to another page, or to a file.
const use = (target) => {
  const isBox = target.matches('input[type=checkbox], input[type=radio]');
  const isLink = target.matches('a[href]') && !target.getAttribute('href').startsWith('#');
  return { key: isBox ? 'Space' : 'Enter', leads: isLink || (target.type === 'submit' && Boolean(target.form)) };
};

// How many options a choice is away. `null` if there is no such option: neither a value nor a label.
const stepsTo = (select, wanted) => {
  const at = [...select.options].findIndex(({ value, label }) => value === wanted || label === wanted);
  return at < 0 ? null : at - select.selectedIndex;
};

const isDate = async (field) => (await field.getAttribute('type')) === 'date';

// Reports what is done without keys, as an error of the page.
const onlyKeys = () => {
  let isDown = false;
  const on = (kind, does) => addEventListener(kind, does, { capture: true });
  on('keydown', () => (isDown = true));
  on('keyup', () => (isDown = false));
  on('pointerdown', () => console.error('the job used a pointer'));
  on('input', (event) => event instanceof InputEvent && !isDown && console.error('the job filled in a field without keys'));
  on('change', (event) => event.isTrusted || console.error('the job chose without keys'));
};

// With a pointer. Counts clicks.
async function pointer(page) {
  let clicks = 0;
  return {
    used: () => clicks,
    click: async (locator) => {
      clicks += 1;
      await locator.click();
    },
    fill: (locator, text) => locator.fill(text),
    choose: (locator, wanted) => locator.selectOption(wanted),
    focus: (locator) => locator.focus(),
    press: (key) => page.keyboard.press(key),
    type: (text) => page.keyboard.type(text),
  };
}

// With keys alone. Counts keys.
async function keyboard(page) {
  await page.addInitScript(onlyKeys);
  await page.evaluate(onlyKeys);
  let keys = 0;
  const press = async (key) => {
    keys += 1;
    await page.keyboard.press(key);
  };
  const type = async (text) => {
    keys += text.length;
    await page.keyboard.type(text);
  };

  // Walks to a control with Tab, or with Shift+Tab if it is before what has the focus. Past the navigation with the skip
  // link.
  const focus = async (locator) => {
    await locator.waitFor();
    const target = await locator.elementHandle();
    let key = 'Tab';
    let isKnown = false;
    let where = await target.evaluate(whereabouts);
    for (let tabs = 0; where !== 'here'; tabs += 1) {
      if (tabs > MOST) throw new Error(`${locator} was not reached with ${MOST} times ${key}`);
      if (where === 'behind the skip link') {
        await press('Enter');
        await page.locator('main:focus').waitFor();
      } else {
        if (!isKnown && where === 'before') key = 'Shift+Tab';
        isKnown ||= where !== 'unknown';
        await press(key);
      }
      where = await target.evaluate(whereabouts);
    }
    if (key === 'Shift+Tab' && (await isDate(target))) {
      // That led to its last part.
      while ((await target.evaluate(whereabouts)) === 'here') await press(key);
      await press('Tab');
    }
    assert.equal(await target.evaluate(unseen), '', `the focus on ${locator}`);
    return target;
  };

  // A date has a part for the month, the day and the year each, in the order of the browser's language.
  const fillDate = async (target, text) => {
    const order = await target.evaluate(() =>
      new Intl.DateTimeFormat().formatToParts().flatMap(({ type }) => (type === 'literal' ? [] : [type])),
    );
    const [year, month, day] = text.split('-');
    for (const part of order) {
      await type({ year, month, day }[part]);
      // Only a year may have more digits.
      if (part === 'year') await press('ArrowRight');
    }
  };

  return {
    used: () => keys,
    click: async (locator) => {
      const target = await focus(locator);
      const { key, leads } = await target.evaluate(use);
      const left = leads && Promise.any([page.waitForEvent('load'), page.waitForEvent('download')]);
      const pressed = Promise.all([left, press(key)]);
      await pressed.catch((error) => Promise.reject(new Error(`${key} on ${locator} led nowhere`, { cause: error })));
    },
    fill: async (locator, text) => {
      const target = await focus(locator);
      if (await isDate(target)) {
        await fillDate(target, text);
      } else {
        // Tab selects what is there; a script that moves the focus does not.
        if (await target.inputValue()) await press('Control+a');
        await type(text);
      }
      assert.equal(await target.inputValue(), text, `${locator}`);
    },
    choose: async (locator, wanted) => {
      const target = await focus(locator);
      const steps = await target.evaluate(stepsTo, wanted);
      assert.notEqual(steps, null, `${locator} has no ${wanted}`);
      for (let step = 0; step < Math.abs(steps); step += 1) await press(steps > 0 ? 'ArrowDown' : 'ArrowUp');
      assert.equal(await target.evaluate(stepsTo, wanted), 0, `${locator} is not ${wanted}`);
    },
    focus,
    press,
    type,
  };
}

// The ways, with what they count.
export const POINTER = { way: 'with a pointer', unit: 'clicks', take: pointer };
export const KEYS = { way: 'by keys', unit: 'keys', take: keyboard };
