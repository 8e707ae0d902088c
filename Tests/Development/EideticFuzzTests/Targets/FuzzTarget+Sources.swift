extension FuzzTarget {
    /// The files and folders below `Sources` whose lines `script/fuzz --coverage` counts.
    var sources: [String] { Self.sources[name] ?? [] }

    private static let sources: [String: [String]] = {
        let codecs = "Images/EideticCodecs", http = "Images/EideticHTTP", store = "Images/EideticStore/Disk"
        let fetch = "Images/EideticFetch", lifecycle = "Background/EideticLifecycle"
        let supervision = "Background/EideticSupervision", supervisor = "Background/EideticSupervisor"
        let client = "Transfers/EideticTransfer", engine = "Transfers/EideticTransferEngine"
        let wire = ["WireReader", "WireWriter", "Layout", "Layout+Values"].map { "Images/EideticCore/IPC/\($0).swift" }
        return [
            "jpeg": ["\(codecs)/Formats/JPEG", "\(codecs)/Previews/JPEGPreviewFeed.swift", "C/CJPEG"],
            "png": ["\(codecs)/Formats/PNG", "\(codecs)/Previews/PNGPreviewFeed.swift", "C/CPNG"],
            "gif": ["\(codecs)/Formats/GIF", "\(codecs)/Previews/GIFPreviewFeed.swift"],
            "webp": ["\(codecs)/Formats/WebP", "\(codecs)/Previews/WebPPreviewFeed.swift"],
            "avif": ["\(codecs)/Formats/AVIF", "C/CAVIF/avif.c"],
            "heic": ["\(codecs)/Formats/HEIF", "C/CHEIF/heif.c"],
            "bmp": ["\(codecs)/Formats/BMP", "C/CBitmap"],
            "ico": ["\(codecs)/Formats/ICO"],
            "tiff": ["\(codecs)/Formats/TIFFCodec.swift", "\(codecs)/Formats/TIFFDirectory.swift", "C/CTIFF"],
            "svg": ["\(codecs)/Formats/SVG", "C/CSVG"],
            "jpegxl": ["\(codecs)/Formats/JPEGXL", "\(codecs)/Previews/JPEGXLPreviewFeed.swift", "C/CJXL"],
            "detection": ["ImageFormat", "ImageSignature", "XMLProlog", "OwnSignatures", "FormatTable"].map {
                "Images/EideticCore/Image/\($0).swift"
            },
            "exif": ["\(codecs)/Metadata/Exif.swift"],
            "profile": ["ICCProfile", "ColourProfile", "ColourSpace"].map { "\(codecs)/Pixels/\($0).swift" },
            "placeholder": ["BlurHash", "ThumbHash", "Base64", "ImagePlaceholder"].map {
                "\(codecs)/Placeholders/\($0).swift"
            },
            "lzw": ["C/CPixels/LZW.c"],
            "png-rows": ["C/CPixels/PNGRows.c"],
            "palette": ["C/CPixels/Quantize.c"],
            "http-date": ["\(http)/Fields/HTTPDate.swift", "\(http)/Fields/HTTPDateParts.swift"],
            "content-range": ["\(http)/Ranges/ContentRange.swift"],
            "cache-control": ["\(http)/Caching/CacheControl.swift"],
            "response-head": ["\(fetch)/Engine/ResponseHead.swift", "\(fetch)/Engine/HeadLineParser.swift"],
            "content-coding": ["\(fetch)/Engine/BodyDecoder.swift", "C/CInflate"],
            "url": ["Images/EideticFetch/Request/ParsedURL.swift"],
            "plain-url": ["Images/EideticFetch/Request/PlainURL.swift"],
            "data-url": ["Images/Eidetic/Request/DataURL.swift"],
            "signed-url": ["Images/Eidetic/Request/SignedURL.swift"],
            "entry": ["EntryFile", "MetadataCoding", "ResponseRecord"].map { "\(store)/\($0).swift" },
            "ledger": ["Ledger+File", "LedgerHeader", "LedgerRecord"].map { "\(store)/\($0).swift" },
            "partial-file": ["\(fetch)/Resume/PartialBody.swift", "\(fetch)/Resume/PartialBodyStore.swift"],
            "bundle": ["\(store)/ImageBundle.swift"],
            "desktop-entry": ["DesktopEntry", "Manifest", "CommandTemplate"].map {
                "\(supervisor)/Manifest/\($0).swift"
            },
            "journal": ["\(engine)/Journal/JournalReader.swift"],
            "transfer-message": [
                "\(client)/Wire", "\(client)/Interface/TransferEvent.swift", "\(client)/Interface/TransferStatus.swift",
                "\(engine)/Journal/JournalRecord.swift",
            ],
            "supervisor-message": [
                "ApplicationMessage", "SupervisorMessage", "ControlRequest", "ControlAnswer", "Hello",
                "LifecycleCallback+Wire",
            ].map { "\(supervision)/\($0).swift" } + ["\(supervisor)/Records/ApplicationRecord.swift"],
            "wake-record": ["\(supervision)/Wakes", "\(supervisor)/Wakes/WakeRecord+Wire.swift"],
            "push-payload": ["\(lifecycle)/Push/PushPayload.swift"],
            "sound-message": ["\(supervisor)/Sound/SoundMessage.swift", "\(supervisor)/Sound/SoundValue.swift"],
            "sandbox-message": ["Images/EideticSandbox/Messages"],
            "wire": wire,
            "transfer-record": ["\(engine)/Store/RequestSecret.swift"],
            "session-record": [
                "\(client)/Session/ResumableRequest.swift", "\(client)/Session/TaskNote.swift",
                "\(client)/Interface/TransferRequest.swift",
            ],
        ]
    }()
}
