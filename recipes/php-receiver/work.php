<?php
// Works on what receiver.php wrote down, oldest first, and marks it as done. Run it every minute, or in a loop.
declare(strict_types=1);

/** Your own work. It may run twice for one event if the program dies in between. */
function handle(array $event): void
{
    echo "{$event['event']} {$event['data']['rmaNumber']} {$event['data']['status']}\n";
}

$inbox = (string) getenv('HANDBACK_INBOX');
if (!is_dir($inbox)) {
    fwrite(STDERR, "HANDBACK_INBOX must be a folder\n");
    exit(1);
}
// One at a time, however often it is started.
$lock = fopen("$inbox/work.lock", 'c');
if ($lock === false || !flock($lock, LOCK_EX | LOCK_NB)) {
    exit(0);
}
// The names begin with the time of the change, so their order is the order of the events.
foreach (glob("$inbox/*.json") as $file) {
    try {
        handle(json_decode((string) file_get_contents($file), true, flags: JSON_THROW_ON_ERROR));
        rename($file, "$file.done");
    } catch (Throwable $error) {
        // It stays in the inbox and is tried again; the others go on.
        error_log("$file: {$error->getMessage()}");
    }
}
