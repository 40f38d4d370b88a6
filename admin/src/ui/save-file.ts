type FileType = 'text/csv' | 'text/plain' | 'application/json';

export const saveFile = (name: string, text: string, type: FileType): void => {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
};
