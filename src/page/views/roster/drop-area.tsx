import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/index.ts'

/** A view onto which a file may be dropped; a file that is dropped elsewhere in the window does not replace the page. */
export function DropArea({ take, children }: { take: (file: File) => void; children: ComponentChildren }): JSX.Element {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    }
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false)
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(false)
      const [file] = event.dataTransfer.files
      if (file) take(file)
    }
    addEventListener('dragover', over)
    addEventListener('dragleave', leave)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', leave)
      removeEventListener('drop', drop)
    }
  }, [])
  return (
    <div class="drop-area">
      {children}
      {isOver && (
        <div class="drop-here">
          <p>
            <Icon name="upload" size={24} />
            {words.roster.dropHere}
          </p>
        </div>
      )}
    </div>
  )
}
