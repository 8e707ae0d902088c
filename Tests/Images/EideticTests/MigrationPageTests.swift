import EideticCore
import Testing

/// The tables of `docs/migrating.md` against the options of the other libraries, and against the public declarations.
@Suite("The page of migrating")
struct MigrationPageTests {
    /// The options of a library, by the heading of its section: SDWebImage 5.21, Kingfisher 8, Nuke 13.
    private static let options: [String: String] = [
        "SDWebImage": """
        retryFailed lowPriority progressiveLoad refreshCached continueInBackground handleCookies highPriority
        allowInvalidSSLCertificates delayPlaceholder transformAnimatedImage avoidAutoSetImage scaleDownLargeImages
        queryMemoryData queryMemoryDataSync queryDiskDataSync fromCacheOnly fromLoaderOnly forceTransition
        avoidDecodeImage decodeFirstFrameOnly preloadAllFrames matchAnimatedImageClass waitStoreCache
        transformVectorImage avoidAutoCancelImage waitTransition cacheMemoryOnly SDImageCacheOptions
        SDWebImageDownloaderOptions SDWebImageDownloaderUseNSURLCache IgnoreCachedResponse
        .setImageOperationKey .customManager .callbackQueue .imageCache .imageLoader .imageCoder .imageTransformer
        .imageForceDecodePolicy .imageDecodeOptions .imageScaleFactor .imagePreserveAspectRatio
        .imageThumbnailPixelSize .imageTypeIdentifierHint .imageScaleDownLimitBytes .imageEncodeOptions
        .queryCacheType .storeCacheType .originalQueryCacheType .originalStoreCacheType .originalImageCache
        .animatedImageClass .downloadRequestModifier .downloadResponseModifier .downloadDecryptor .cacheKeyFilter
        .cacheSerializer shouldDisableiCloud shouldCacheImagesInMemory shouldUseWeakMemoryCache
        shouldRemoveExpiredDataWhenEnterBackground shouldRemoveExpiredDataWhenTerminate diskCacheReadingOptions
        diskCacheWritingOptions maxDiskAge maxDiskSize maxMemoryCost maxMemoryCount diskCacheExpireType fileManager
        ioQueueAttributes memoryCacheClass diskCacheClass maxConcurrentDownloads downloadTimeout
        minimumProgressInterval sessionConfiguration operationClass executionOrder urlCredential username password
        acceptableStatusCodes acceptableContentTypes
        """,
        "Kingfisher": """
        .targetCache .originalCache .downloader .transition .downloadPriority .forceRefresh
        .fromMemoryCacheOrRefresh .forceTransition .cacheMemoryOnly .waitForCache .onlyFromCache .backgroundDecode
        .callbackQueue .scaleFactor .preloadAllAnimationData .requestModifier .redirectHandler .processor
        .cacheSerializer .imageModifier .keepCurrentImageWhileLoading .onlyLoadFirstFrame .cacheOriginalImage
        .onFailureImage .alsoPrefetchToMemory .loadDiskFileSynchronously .asyncCacheTypeCheck
        .diskStoreWriteOptions .memoryCacheExpiration .memoryCacheAccessExtendingExpiration .diskCacheExpiration
        .diskCacheAccessExtendingExpiration .processingQueue .progressiveJPEG .alternativeSources .retryStrategy
        .lowDataMode .forcedCacheFileExtension
        """,
        "Nuke": """
        .disableMemoryCacheReads .disableMemoryCacheWrites .disableMemoryCache .disableDiskCacheReads
        .disableDiskCacheWrites .disableDiskCache .reloadIgnoringCachedData .returnCacheDataDontLoad
        .skipDecompression .skipDataLoadingQueue dataLoader dataCache imageCache makeImageDecoder makeImageEncoder
        isDecompressionEnabled isUsingPrepareForDisplay dataCachePolicy isTaskCoalescingEnabled
        isRateLimiterEnabled isProgressiveDecodingEnabled progressiveDecodingInterval
        isStoringPreviewsInMemoryCache isResumableDataEnabled isLocalResourcesSupportEnabled
        isSignpostLoggingEnabled dataLoadingQueue imageDecodingQueue imageEncodingQueue imageProcessingQueue
        imageDecompressingQueue callbackQueue withURLCache withDataCache imageIdKey scaleKey thumbnailKey Priority
        ThumbnailOptions PreviewPolicy
        """,
    ]
    /// Words of the right column that are no declarations of Eidetic.
    private static let others: Set<String> = [
        "await", "blackListed", "SDImageScaleModeAspectFit", "AspectFill", "Fill", "CACHEDIR.TAG", "crop: true",
        "file:", "data:", "Codable", "Duration", "Bundle.main", "Bundle.module", "EideticTransfer", "eideticd",
        "EIDETIC_LOG",
    ]

    /// The rows of the tables by section: the code of the left column, and that of the right one.
    private let sections: [String: [(left: [Substring], right: [Substring])]]

    init() throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let page = String(decoding: try FileSystem().contents(of: root + "/docs/migrating.md"), as: UTF8.self)
        var sections: [String: [(left: [Substring], right: [Substring])]] = [:]
        for section in page.split(separator: "\n## ").dropFirst() {
            let lines = section.split(separator: "\n")
            sections[String(lines[0])] = lines.filter { $0.hasPrefix("| ") }.map { row in
                let columns = row.split(separator: " | ", maxSplits: 1)
                return (Self.code(of: columns[0]), Self.code(of: columns.last ?? ""))
            }
        }
        self.sections = sections
    }

    /// Returns the texts between backticks.
    private static func code(of text: Substring) -> [Substring] {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
    }

    @Test("L06 each option of another library has a row", arguments: options.keys.sorted())
    func complete(library: String) throws {
        let left = try #require(sections[library]).flatMap(\.left)
        let words = Set(left.flatMap { $0.split { !$0.isLetter } })
        for option in try #require(Self.options[library]).split(whereSeparator: \.isWhitespace) {
            let hasRow = words.contains(option.drop { $0 == "." })
            #expect(hasRow, "\(option)")
        }
    }

    @Test("L06 what a row names is a public declaration") func names() throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined(), files = FileSystem()
        var declarations: Set<String> = []
        for file in try files.entryNames(in: root + "/docs/api") {
            let text = String(decoding: try files.contents(of: root + "/docs/api/" + file), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let parts = Self.base(of: line.prefix { $0 != " " }).split(separator: ".")
                for start in parts.indices { declarations.insert(parts[start...].joined(separator: ".")) }
            }
        }
        try #require(declarations.count > 1_000)
        for (section, rows) in sections {
            for text in rows.flatMap(\.right) where !Self.others.contains(where: { text.hasSuffix($0) }) {
                let assigned = text.replacing("catch ", with: "").split(separator: " = ").first ?? ""
                let name = Self.base(of: assigned).replacing(".shared.", with: ".")
                let member = name.hasPrefix("cachePolicy.") ? "CachePolicy" + name.dropFirst(11) : name
                let isDeclared = declarations.contains(member)
                #expect(isDeclared, "\(section): \(text)")
            }
        }
    }

    /// Returns a name without its arguments and its leading dot.
    private static func base(of text: Substring) -> String { String(text.prefix { $0 != "(" }.drop { $0 == "." }) }
}
