<?php
// A webhook receiver for Handback. PHP 8.1 or newer, no extension beyond those that are always there.
//
// HANDBACK_WEBHOOK_SECRET=... HANDBACK_INBOX=/var/lib/handback-inbox   and this file as the script of your web server;
// to try it: php -S 127.0.0.1:8000 receiver.php
declare(strict_types=1);

const MOST_BYTES = 1024 * 1024;

function isGenuine(string $secret, string $body, string $signature): bool
{
    return hash_equals(hash_hmac('sha256', $body, $secret), $signature);
}

/**
 * The name of an event's file: its time, so that the order of the names is the order of the events, and a hash of what no two events
 * share. All of it is signed, as headers are not. Null where the body is no event.
 */
function nameOf(string $body): ?string
{
    $event = json_decode($body, true);
    $parts = [$event['event'] ?? null, $event['data']['id'] ?? null, $event['timestamp'] ?? null];
    if (array_filter($parts, 'is_string') !== $parts) {
        return null;
    }
    return preg_replace('/\D/', '', $parts[2]) . '-' . hash('sha256', implode(' ', $parts));
}

/** Writes the event down, once: a delivery that comes again has the same name. False where the disk does not take it. */
function keep(string $inbox, string $name, string $body): bool
{
    $file = "$inbox/$name.json";
    if (file_exists($file) || file_exists("$file.done")) {
        return true;
    }
    // Written beside and moved: work.php finds whole files only.
    $beside = tempnam($inbox, 'new-');
    if ($beside === false) {
        return false;
    }
    $handle = fopen($beside, 'wb');
    $written = $handle !== false && fwrite($handle, $body) === strlen($body) && fsync($handle) && fclose($handle);
    if ($written && rename($beside, $file)) {
        return true;
    }
    unlink($beside);
    return false;
}

function receive(string $secret, string $inbox): int
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return 405;
    }
    // The bytes as they came: a body that was parsed and written again may differ from the one that was signed.
    $body = file_get_contents('php://input', length: MOST_BYTES + 1);
    if ($body === false || strlen($body) > MOST_BYTES) {
        return 413;
    }
    if (!isGenuine($secret, $body, $_SERVER['HTTP_X_WEBHOOK_SIGNATURE'] ?? '')) {
        return 401;
    }
    $name = nameOf($body);
    if ($name === null) {
        return 400;
    }
    return keep($inbox, $name, $body) ? 204 : 503;
}

$secret = (string) getenv('HANDBACK_WEBHOOK_SECRET');
$inbox = (string) getenv('HANDBACK_INBOX');
if ($secret === '' || !is_dir($inbox)) {
    error_log('HANDBACK_WEBHOOK_SECRET must be set, and HANDBACK_INBOX must be a folder');
    http_response_code(503);
} else {
    http_response_code(receive($secret, $inbox));
}
