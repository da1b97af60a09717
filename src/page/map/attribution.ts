import * as leaflet from 'leaflet'

/** A part of an attribution; `href`: it is a link. */
export interface Credit {
  readonly text: string
  readonly href?: string
}

/** The corner of a map that names the sources of its data. */
export class Attribution {
  readonly #line = document.createElement('p')
  readonly #credits = new Map<string, readonly Credit[]>()

  constructor(map: leaflet.Map) {
    this.#line.className = 'map-attribution'
    this.#line.hidden = true
    // Leaflet would treat a press here as a click on the map.
    leaflet.DomEvent.disableClickPropagation(this.#line)
    const control = new leaflet.Control({ position: 'bottomright' })
    control.onAdd = () => this.#line
    control.addTo(map)
  }

  /** Sets the credits of a part of the map: `ground` or `tiles`. */
  set(part: 'ground' | 'tiles', credits: readonly Credit[]): void {
    this.#credits.set(part, credits)
    const shown = (['tiles', 'ground'] as const).flatMap((each) => {
      const own = this.#credits.get(each) ?? []
      return own.length > 0 ? [own] : []
    })
    this.#line.hidden = shown.length === 0
    this.#line.replaceChildren(...shown.flatMap((own, at) => [...(at > 0 ? [' · '] : []), ...own.map(nodeOf)]))
  }
}

/** Reads an attribution as a tile server writes it: its text and its links. No other HTML is kept, and none is parsed as such. */
export function creditsIn(html: string): readonly Credit[] {
  const credits: Credit[] = []
  let href: string | undefined
  for (const part of html
    .slice(0, MOST_CHARACTERS)
    .replaceAll(UNSEEN, '')
    .split(/(<[^>]*>)/)) {
    const text = part.startsWith('<') ? '' : textOf(part)
    if (text !== '') credits.push({ text, href })
    if (/^<a\s/i.test(part)) href = linkOf(part)
    else if (/^<\/a\b/i.test(part)) href = undefined
  }
  return credits.some(({ text }) => text !== ' ') ? credits : []
}

/** Text without tags, in which `&copy;` is a character. */
function textOf(html: string): string {
  const { body } = new DOMParser().parseFromString(html.replaceAll('<', ''), 'text/html')
  const spaces = (part: RegExp) => (part.test(html) ? ' ' : '')
  const text = (body.textContent ?? '').trim().replaceAll(/\s+/g, ' ')
  return text === '' ? spaces(/\s/) : `${spaces(/^\s/)}${text}${spaces(/\s$/)}`
}

function linkOf(tag: string): string | undefined {
  const [, ...quoted] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag) ?? []
  const url = URL.parse(textOf(quoted.find((value) => value !== undefined) ?? ''))
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined
}

function nodeOf({ text, href }: Credit): Node | string {
  if (href === undefined) return text
  const link = document.createElement('a')
  link.textContent = text
  link.href = href
  link.target = '_blank'
  link.rel = 'noopener noreferrer'
  return link
}

/** Parts of the HTML that are no text, with their content. */
const UNSEEN = /<!--[^]*?-->|<(script|style)\b[^]*?<\/\1\s*>/gi
/** Longer attributions are cut off. */
const MOST_CHARACTERS = 2000
