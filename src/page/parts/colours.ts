/** Returns the page's present colours for a canvas, by the colour scheme of the browser. */
export function colours() {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim()
  return {
    text: of('text'),
    muted: of('muted'),
    border: of('border'),
    surface: of('surface'),
    accent: of('accent'),
    ok: of('ok'),
    land: of('map-land'),
    water: of('map-water'),
    coast: of('map-coast'),
    frontier: of('map-border'),
    green: of('map-green'),
    urban: of('map-urban'),
    building: of('map-building'),
    road: of('map-road'),
    roadEdge: of('map-road-edge'),
    major: of('map-major'),
    majorEdge: of('map-major-edge'),
    rail: of('map-rail'),
    label: of('map-label'),
    halo: of('map-halo'),
    of,
  }
}

/** Calls `change` when the browser's colour scheme changes. Returns how to stop that. */
export function onColourScheme(change: () => void): () => void {
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', change)
  return () => scheme.removeEventListener('change', change)
}
