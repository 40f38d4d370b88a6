import { addCopyButtons, fillInBaseUrl, makeScrollable } from './code-blocks.ts';
import { markContents, setUpMenu } from './navigation.ts';
import { setUpSearch } from './search.ts';

fillInBaseUrl();
addCopyButtons();
makeScrollable();
setUpMenu();
markContents();
setUpSearch();
