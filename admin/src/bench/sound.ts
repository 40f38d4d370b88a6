import { useState } from 'react';

// A tone for each scan, for people who look at the goods and not at the screen.

const REMEMBERED = 'handback.bench-sound';
const TONES = { done: { hertz: 880, seconds: 0.12 }, failed: { hertz: 196, seconds: 0.45 } } as const;
const QUIET = 0.15;

let audio: AudioContext | null = null;

const play = (tone: keyof typeof TONES): void => {
  audio ??= new AudioContext();
  const { hertz, seconds } = TONES[tone];
  const oscillator = new OscillatorNode(audio, {
    frequency: hertz,
    type: tone === 'done' ? 'sine' : 'square',
  });
  const gain = new GainNode(audio, { gain: QUIET });
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start();
  oscillator.stop(audio.currentTime + seconds);
};

/** Off unless somebody turned it on at this computer. */
export const useSound = () => {
  const [isOn, setOn] = useState(() => localStorage.getItem(REMEMBERED) === 'on');
  return {
    isOn,
    turn: (on: boolean) => {
      localStorage.setItem(REMEMBERED, on ? 'on' : 'off');
      setOn(on);
      if (on) play('done');
    },
    play: (tone: keyof typeof TONES) => {
      if (isOn) play(tone);
    },
  };
};
