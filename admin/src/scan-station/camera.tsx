import { Alert, Button, Text } from '@mantine/core';
import { Camera as CameraIcon, CameraOff } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { texts } from '../texts.ts';
import styles from './scan-station.module.css';

// Scanning with the camera of a phone, where the browser can read bar codes by itself.

const words = texts.station;

interface DetectorClass {
  new (options: { formats: string[] }): { detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]> };
  getSupportedFormats(): Promise<string[]>;
}

/** What is on our slips. */
const FORMATS = ['code_128', 'qr_code'];
const LOOK_EVERY_MS = 150;
/** A code that stays in view is one scan. */
const SAME_CODE_MS = 2_500;

const detectorClass = (): DetectorClass | undefined =>
  'mediaDevices' in navigator ? (window as { BarcodeDetector?: DetectorClass }).BarcodeDetector : undefined;

/** Null until it is known. Some browsers have the class, and read no format. */
const useCanScan = (): boolean | null => {
  const [canScan, setCanScan] = useState<boolean | null>(null);
  useEffect(() => {
    const known = detectorClass()?.getSupportedFormats() ?? Promise.resolve([]);
    known.then(
      (formats) => setCanScan(FORMATS.every((format) => formats.includes(format))),
      () => setCanScan(false),
    );
  }, []);
  return canScan;
};

const problemOf = (error: unknown): string =>
  error instanceof DOMException && error.name === 'NotAllowedError' ? words.cameraDenied : words.noCamera;

export const Camera = ({ onScan }: { onScan(text: string): void }) => {
  const canScan = useCanScan();
  const [isOn, setOn] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (canScan === null) return null;
  if (!canScan)
    return (
      <Text size="xs" c="dimmed" className={styles['touch-only'] ?? ''}>
        {words.noCameraScan}
      </Text>
    );
  const stop = (why: string | null = null) => {
    setOn(false);
    setProblem(why);
  };
  return (
    <div className={styles['camera']}>
      <Button
        variant="default"
        leftSection={isOn ? <CameraOff /> : <CameraIcon />}
        onClick={() => (isOn ? stop() : setOn(true))}
      >
        {isOn ? words.stopCamera : words.useCamera}
      </Button>
      {isOn ? <LiveView onScan={onScan} onStop={stop} /> : null}
      {problem ? (
        <Alert color="orange" role="alert">
          {problem}
        </Alert>
      ) : null}
    </div>
  );
};

const LiveView = ({ onScan, onStop }: { onScan(text: string): void; onStop(why?: string): void }) => {
  const video = useRef<HTMLVideoElement>(null);
  const seen = useRef({ text: '', at: 0 });
  const stop = useEffectEvent(onStop);
  const take = useEffectEvent((text: string) => {
    const { text: last, at } = seen.current;
    seen.current = { text, at: Date.now() };
    if (text !== last || Date.now() - at > SAME_CODE_MS) onScan(text);
  });
  useEffect(() => {
    let stream: MediaStream | null = null;
    let isOver = false;
    const open = async (view: HTMLVideoElement, Reader: DetectorClass) => {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
      // Left before the person allowed it.
      if (isOver) return close();
      view.srcObject = stream;
      const reader = new Reader({ formats: FORMATS });
      while (!isOver) {
        // It throws until there is a picture.
        const [code] = await reader.detect(view).catch(() => []);
        if (code && !isOver) take(code.rawValue);
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    };
    const close = () => {
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    const onHide = () => document.hidden && stop();
    const Reader = detectorClass();
    if (video.current && Reader)
      open(video.current, Reader).catch((error: unknown) => {
        if (!isOver) stop(problemOf(error));
      });
    document.addEventListener('visibilitychange', onHide);
    return () => {
      isOver = true;
      close();
      document.removeEventListener('visibilitychange', onHide);
    };
  }, []);
  return (
    <figure className={styles['live']}>
      <video ref={video} autoPlay muted playsInline aria-label={words.camera} />
      <figcaption>{words.cameraHint}</figcaption>
    </figure>
  );
};
