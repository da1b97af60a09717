import type { JSX } from 'preact'

/** Shows bytes as hex, in groups of eight, with their ASCII characters beside them. */
export function Hex({ bytes }: { bytes: string }): JSX.Element {
  const pairs = bytes.match(/../g) ?? []
  const lines = Array.from({ length: Math.ceil(pairs.length / WIDTH) }, (_, line) =>
    pairs.slice(line * WIDTH, (line + 1) * WIDTH),
  )
  return (
    <pre class="hex mono" dir="ltr" tabIndex={0}>
      {lines.map((line, index) => (
        <span key={index} class="hex-line">
          <span class="hex-at">{(index * WIDTH).toString(16).padStart(4, '0')}</span>
          <span class="hex-bytes">
            {`${line.slice(0, 8).join(' ')}  ${line.slice(8).join(' ')}`.padEnd(WIDTH * 3 + 1)}
          </span>
          <span class="hex-text">{line.map(printable).join('')}</span>
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

function printable(pair: string): string {
  const code = Number.parseInt(pair, 16)
  return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '·'
}

const WIDTH = 16
