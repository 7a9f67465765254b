// What a reader's eye would see, asked of a page: each function returns plain values.

const hex = colour =>
  '#' + colour.match(/[\d.]+/g).slice(0, 3).map(part => (+part).toString(16).padStart(2, '0')).join('');

const seeThrough = element => /rgba\(.*, 0\)|transparent/.test(getComputedStyle(element).backgroundColor);

// Pairs of the colours of text and of what lies behind it, each with a text that has them.
function texts() {
  const seen = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility()) continue;
    let behind = element;
    while (behind && seeThrough(behind)) behind = behind.parentElement;
    const paper = behind ? getComputedStyle(behind).backgroundColor : 'rgb(255, 255, 255)';
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    seen.set(hex(ink) + ' ' + hex(paper), element.tagName + ': ' + text.slice(0, 40));
  }
  return [...seen];
}

// Letters of pictures that are cut off at a picture's edge.
function cutOff() {
  return [...document.querySelectorAll('.panels svg')].flatMap(svg => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(text => {
      const box = text.getBoundingClientRect();
      return box.left < frame.left - 1 || box.right > frame.right + 1
        || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
    }).map(text => svg.getAttribute('aria-label').slice(0, 40) + ': ' + text.textContent.trim());
  });
}

// Letters of pictures that lie on each other.
function onEachOther() {
  return [...document.querySelectorAll('.panels svg')].flatMap(svg => {
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
    const boxes = texts.map(text => text.getBoundingClientRect());
    return boxes.flatMap((one, place) => boxes.slice(place + 1).flatMap((other, further) => {
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      return wide > 2 && high > 5
        ? [texts[place].textContent.trim() + ' / ' + texts[place + 1 + further].textContent.trim()] : [];
    }));
  });
}

// What reaches beyond the right edge, but for what scrolls by itself or is put aside for screen readers.
function tooWide() {
  const edge = document.documentElement.clientWidth + 1;
  return [...document.querySelectorAll('body *')].filter(element => {
    const box = element.getBoundingClientRect();
    return box.width && box.right > edge && !element.closest('.scrolls, .skip, thead');
  }).map(element => element.tagName + ' ' + element.textContent.trim().slice(0, 40));
}

// Heights of the letters of pictures, in CSS pixels.
function letterHeights() {
  return [...document.querySelectorAll('.panels svg text')].map(text => {
    const svg = text.ownerSVGElement;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return parseFloat(getComputedStyle(text).fontSize) * scale;
  });
}

// Where the keyboard is: element, its text, and the outline that shows it.
function focused() {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  return [element.tagName, element.textContent.trim().slice(0, 30), style.outlineStyle, parseFloat(style.outlineWidth)];
}
