import type { JSX } from 'preact'
import { useAsked } from '../data/hooks.ts'

/** A QR code, black on white even on a dark page, because cameras need the contrast. */
export function QrCode({ text, label }: { text: string; label: string }): JSX.Element {
  // Loaded with the first code.
  const { answer: rows } = useAsked(`qr ${text}`, async () => {
    const { encodeQR } = await import('qr')
    return encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_MODULES })
  })
  if (!rows) return <div class="qr" />
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label}>
      <path d={path.join('')} shape-rendering="crispEdges" />
    </svg>
  )
}

const QUIET_MODULES = 4
