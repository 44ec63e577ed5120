<?php
// The recipe guestbook in PHP 8 with SQLite: what the files of the recipe do, and no more.
session_set_cookie_params(["httponly" => true, "samesite" => "Lax", "secure" => !empty($_SERVER["HTTPS"])]);
session_start();
$db = new PDO("sqlite:" . __DIR__ . "/../data/guestbook.db");
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$db->exec("PRAGMA busy_timeout = 5000");
$db->exec("CREATE TABLE IF NOT EXISTS guestbook (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
	message TEXT NOT NULL, added TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)");

function e($text) { return htmlspecialchars($text ?? "", ENT_QUOTES | ENT_SUBSTITUTE); }

if ($_SERVER["REQUEST_METHOD"] === "POST") {
	if (!hash_equals($_SESSION["token"] ?? "", $_POST["token"] ?? "")) {
		http_response_code(403);
		exit("The form was not accepted. Go back, reload the page and send it again.");
	}
	$problems = [];
	$entry = [];
	foreach (["name" => 40, "message" => 500] as $field => $most) {
		$text = is_string($_POST[$field] ?? null) ? trim($_POST[$field]) : "";
		if (!mb_check_encoding($text, "UTF-8") || $text === "") {
			$problems[] = "$field must be filled in";
		} elseif (mb_strlen($text) > $most) {
			$problems[] = "$field must have $most characters or less";
		}
		$entry[$field] = $text;
	}
	if ($problems) {
		$_SESSION["draft"] = $entry;
		$_SESSION["flash"] = $problems;
	} else {
		$db->prepare("INSERT INTO guestbook (name, message) VALUES (?, ?)")->execute([$entry["name"], $entry["message"]]);
		unset($_SESSION["draft"]);
	}
	header("Location: /guestbook", true, 303);
	exit;
}
$_SESSION["token"] ??= bin2hex(random_bytes(32));
$flash = $_SESSION["flash"] ?? [];
unset($_SESSION["flash"]);
$entries = $db->query("SELECT name, message FROM guestbook ORDER BY id DESC LIMIT 20")->fetchAll(PDO::FETCH_ASSOC);
header("Cache-Control: private, no-cache");
?>
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Guestbook</title></head>
<body><h1>Guestbook</h1>
<?php foreach ($flash as $message): ?><p role="alert"><?= e($message) ?></p><?php endforeach ?>
<form method="post"><input type="hidden" name="token" value="<?= e($_SESSION["token"]) ?>">
<p><label>Name <input name="name" value="<?= e($_SESSION["draft"]["name"] ?? "") ?>"></label></p>
<p><label>Message <textarea name="message"><?= e($_SESSION["draft"]["message"] ?? "") ?></textarea></label></p>
<button>Sign</button></form>
<?php foreach ($entries as $entry): ?>
<article><h2><?= e($entry["name"]) ?></h2><p><?= e($entry["message"]) ?></p></article>
<?php endforeach; if (!$entries): ?><p>Be the first to sign.</p><?php endif ?>
</body></html>
