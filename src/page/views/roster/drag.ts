import { useEffect, useState } from 'preact/hooks'

/** Something that is dragged by a mouse or a pen, and what lies below the pointer. A finger scrolls. */
export interface Dragged<Item> {
  readonly item: Item
  readonly x: number
  readonly y: number
  /** The `data-drop` of what it would be dropped on. */
  readonly onto?: string
}

interface DragOptions<Item> {
  /** The box that scrolls while the pointer is at its edge. */
  readonly box: () => HTMLElement | null
  readonly drop: (item: Item, onto: string) => void
}

/** Drags by pointer events: `take` begins with a press, and a drag once the pointer has moved; Escape ends it. */
export function useDrag<Item>({ box, drop }: DragOptions<Item>) {
  const [pressed, setPressed] = useState<{ item: Item; x: number; y: number }>()
  const [dragged, setDragged] = useState<Dragged<Item>>()
  useEffect(() => {
    if (!pressed) return undefined
    let last: Dragged<Item> | undefined
    const end = () => {
      setPressed(undefined)
      setDragged(undefined)
    }
    const move = ({ clientX: x, clientY: y }: PointerEvent) => {
      if (!last && Math.hypot(x - pressed.x, y - pressed.y) < LEAST_PX) return
      scrollAtEdge(box(), y)
      last = { item: pressed.item, x, y, onto: dropAt(x, y) }
      setDragged(last)
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
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener as EventListener)
    }
  }, [pressed])
  const take = (item: Item) => (event: PointerEvent) => {
    if (event.button === 0 && event.pointerType !== 'touch') setPressed({ item, x: event.clientX, y: event.clientY })
  }
  return { dragged, take }
}

function dropAt(x: number, y: number): string | undefined {
  return document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-drop]')?.dataset.drop
}

/** The click that follows the end of a drag opens nothing. */
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
