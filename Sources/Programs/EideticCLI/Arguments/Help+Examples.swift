extension Help {
    /// Command lines that show the usual use of each command.
    static let examples: [String: [String]] = [
        "eidetic": [
            "eidetic load --out photos @urls.txt", "eidetic convert --size 800x --format webp --out small *.jpg",
        ],
        "eidetic load": [
            "eidetic load --out photos --continue @urls.txt",
            "eidetic load --size 400x400 --out a.webp https://example.org/a.jpg",
        ],
        "eidetic prefetch": ["eidetic prefetch https://example.org/a.jpg", "eidetic prefetch --disk-only @urls.txt"],
        "eidetic inspect": ["eidetic inspect *.jpg", "eidetic inspect --check --json @files.txt"],
        "eidetic convert": [
            "eidetic convert --size 800x --format webp --out small *.jpg",
            "eidetic convert --in-place --max-bytes 200KB photo.jpg",
        ],
        "eidetic completions": [
            "eidetic completions bash > ~/.local/share/bash-completion/completions/eidetic",
            "eidetic completions fish > ~/.config/fish/completions/eidetic.fish",
        ],
        "eidetic help": ["eidetic help load", "eidetic help cache list"],
        "eidetic cache": ["eidetic cache info", "eidetic cache get --out a.jpg https://example.org/a.jpg"],
        "eidetic cache info": ["eidetic cache info", "eidetic cache info --json --cache-dir /var/cache/photos"],
        "eidetic cache list": ["eidetic cache list", "eidetic cache list --json"],
        "eidetic cache get": [
            "eidetic cache get --out a.jpg https://example.org/a.jpg",
            "eidetic cache get https://example.org/a.jpg > a.jpg",
        ],
        "eidetic cache put": [
            "eidetic cache put https://example.org/a.jpg a.jpg",
            "eidetic cache put https://example.org/a.jpg - < a.jpg",
        ],
        "eidetic cache remove": [
            "eidetic cache remove https://example.org/a.jpg",
            "eidetic cache remove --cache-dir /tmp/c https://example.org/a.jpg",
        ],
        "eidetic cache clean": ["eidetic cache clean", "eidetic cache clean --size 20MB"],
        "eidetic cache clear": ["eidetic cache clear", "eidetic cache clear --cache-dir /var/cache/photos"],
        "eidetic cache verify": ["eidetic cache verify", "eidetic cache verify --json"],
        "eidetic transfer": ["eidetic transfer add https://example.org/film.mkv", "eidetic transfer watch"],
        "eidetic transfer add": [
            "eidetic transfer add https://example.org/film.mkv",
            "eidetic transfer add --upload film.mkv https://example.org/films/",
        ],
        "eidetic transfer list": ["eidetic transfer list", "eidetic transfer list --json"],
        "eidetic transfer watch": ["eidetic transfer watch", "eidetic transfer watch --json"],
        "eidetic app": ["eidetic app list", "eidetic app launch org.example.Photos"],
        "eidetic app list": ["eidetic app list", "eidetic app list --json"],
        "eidetic app log": ["eidetic app log", "eidetic app log org.example.Photos"],
        "eidetic app launch": [
            "eidetic app launch org.example.Photos", "eidetic app launch --background org.example.Mail",
        ],
        "eidetic app open": [
            "eidetic app open org.example.Photos file:///tmp/a.jpg", "eidetic app open mailto:a@example.org",
        ],
        "eidetic app quit": ["eidetic app quit org.example.Photos", "eidetic app quit --force org.example.Mail"],
        "eidetic app push": ["eidetic app push org.example.Mail", "eidetic app push org.example.Mail '{\"new\": 2}'"],
        "eidetic app simulate": [
            "eidetic app simulate org.example.Mail fetch", "eidetic app simulate org.example.Photos memory 2",
        ],
        "eidetic app why": ["eidetic app why org.example.Photos", "eidetic app why --json org.example.Photos"],
    ]
}
