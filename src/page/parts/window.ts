import { useEffect, useRef, useState } from 'preact/hooks'

/** Returns the visible rows of a long list, whose rows have equal heights. A few rows above and below are drawn as well. */
export function useWindow(rows: number, rowPx: number) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const measure = () => {
    const { scrollTop = 0, clientHeight = 0 } = box.current ?? {}
    setView({ top: scrollTop, height: clientHeight })
  }
  useEffect(() => {
    if (!box.current) return undefined
    measure()
    const resizing = new ResizeObserver(measure)
    resizing.observe(box.current)
    return () => resizing.disconnect()
  }, [rows === 0])
  const first = Math.max(0, Math.min(rows, Math.floor(view.top / rowPx) - MORE))
  const last = Math.min(rows, Math.ceil((view.top + view.height) / rowPx) + MORE)
  return { box, first, last, onScroll: measure }
}

const MORE = 8
