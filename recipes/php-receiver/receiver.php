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

/** Writes the event down, once: a delivery that comes again has the same id. False where the disk does not take it. */
function keep(string $inbox, string $id, string $body): bool
{
    $file = "$inbox/$id.json";
    if (file_exists($file) || file_exists("$file.done")) {
        return true;
    }
    // Written beside and moved: whoever reads the inbox finds whole files only.
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
    // The id becomes a file name, so it must be nothing else.
    $id = $_SERVER['HTTP_X_WEBHOOK_ID'] ?? '';
    if (preg_match('/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/D', $id) !== 1) {
        return 400;
    }
    return keep($inbox, $id, $body) ? 204 : 503;
}

$secret = (string) getenv('HANDBACK_WEBHOOK_SECRET');
$inbox = (string) getenv('HANDBACK_INBOX');
if ($secret === '' || !is_dir($inbox)) {
    error_log('HANDBACK_WEBHOOK_SECRET must be set, and HANDBACK_INBOX must be a folder');
    http_response_code(503);
} else {
    http_response_code(receive($secret, $inbox));
}
