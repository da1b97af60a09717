import { useEffect, useRef, useState } from 'preact/hooks'

/** Something that is dragged by a mouse or a pen, and what lies below the pointer. A finger scrolls. */
export interface Dragged<Item> {
  readonly item: Item
  readonly x: number
  readonly y: number
  /** The `data-drop` of the element under it. */
  readonly onto?: string
}

interface DragOptions<Item> {
  /** The box that scrolls while the pointer is at its edge. */
  readonly box: () => HTMLElement | null
  readonly drop: (item: Item, onto: string) => void
}

/**
 * Drags by pointer events: `take` begins with a press, and a drag once the pointer has moved; Escape ends it. Listeners are there
 * with the press, since a quick click is over before the next picture.
 */
export function useDrag<Item>({ box, drop }: DragOptions<Item>) {
  const [dragged, setDragged] = useState<Dragged<Item>>()
  const ending = useRef<() => void>(undefined)
  useEffect(() => () => ending.current?.(), [])
  const take = (item: Item) => (press: PointerEvent) => {
    if (press.button !== 0 || press.pointerType === 'touch') return
    ending.current?.()
    let last: Dragged<Item> | undefined
    const move = ({ clientX: x, clientY: y }: PointerEvent) => {
      if (!last && Math.hypot(x - press.clientX, y - press.clientY) < LEAST_PX) return
      scrollAtEdge(box(), y)
      last = { item, x, y, onto: dropAt(x, y) }
      setDragged(last)
    }
    const end = () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener as EventListener)
      setDragged(undefined)
    }
    const up = () => {
      end()
      if (!last) return
      swallowClick()
      if (last.onto !== undefined) drop(last.item, last.onto)
    }
    const key = (event: KeyboardEvent) => event.key === 'Escape' && end()
    const listeners = { pointermove: move, pointerup: up, pointercancel: end, keydown: key }
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener as EventListener)
    ending.current = end
  }
  return { dragged, take }
}

function dropAt(x: number, y: number): string | undefined {
  return document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-drop]')?.dataset.drop
}

/** The click at the end of a drag must open nothing. */
function swallowClick(): void {
  addEventListener('click', stopPropagation, { capture: true, once: true })
  setTimeout(() => removeEventListener('click', stopPropagation, { capture: true }))
}

function stopPropagation(event: Event): void {
  event.stopPropagation()
}

function scrollAtEdge(box: HTMLElement | null, y: number): void {
  if (!box) return
  const { top, bottom } = box.getBoundingClientRect()
  if (y < top + EDGE_PX) box.scrollTop -= STEP_PX
  else if (y > bottom - EDGE_PX) box.scrollTop += STEP_PX
}

const LEAST_PX = 6
const EDGE_PX = 36
const STEP_PX = 12
