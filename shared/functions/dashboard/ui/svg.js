// Pictures of numbers. Their colours come from the style sheet, for light and dark, and their words are read aloud.

const namespace = "http://www.w3.org/2000/svg";

/** A shape with its attributes. */
export function makeShape(name, attributes) {
  const made = document.createElementNS(namespace, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

/** A picture that fills its place, of shapes within `size`. */
export function makePicture({ width, height }, { className, words }, shapes) {
  const made = makeShape("svg", {
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: "none",
    class: className,
    role: "img",
    "aria-label": words,
  });
  made.append(...shapes);
  return made;
}
