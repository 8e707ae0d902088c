import Eidetic
import EideticCodecs
import EideticCLI
import EideticCore

/// The arguments of `eidetic load`.
struct LoadArguments: Sendable {
    /// A URL of the list and the number of its occurrences.
    struct Item: Sendable {
        let url: String
        var count = 1

        /// The text below its thumbnail on a contact sheet.
        var caption: String { UniqueFileNames.stem(of: url) }
    }

    /// The distinct URLs, in the order of the list.
    let items: [Item]
    let rendering: ImageRequest.Rendering
    /// The format in which images are written; `nil` for their own.
    let format: ImageFormat?
    /// The quality of images that are encoded again; `nil` for the default.
    let quality: Double?
    /// The maximum number of concurrent downloads.
    let concurrency: Int
    let network: NetworkArguments
    /// The directory to which the images are written, or the file of the only one; `-` for standard output.
    let output: String?
    let writesOneFile: Bool
    /// A Boolean value indicating whether servers name the files.
    let usesRemoteNames: Bool
    /// A Boolean value indicating whether a file has the time at which its server's file was changed.
    let keepsRemoteTime: Bool
    /// A Boolean value indicating whether images that an earlier run wrote are left out.
    let continues: Bool
    /// A Boolean value indicating whether files are replaced that did not come from the same URL.
    let overwrites: Bool
    let contactSheetFile: String?
    /// The way in which images are displayed on the terminal.
    let graphics: TerminalGraphics?
    let writesJSON: Bool
    /// A Boolean value indicating whether there are no lines for people but errors.
    let isQuiet: Bool
    /// A Boolean value indicating whether the trace of each load is printed.
    let explainsLoads: Bool
    /// The process in which the images are decoded.
    let decodePolicy: DecodePolicy
    /// The options of the requests, without those that the command itself needs.
    let options: ImageOptions
    let cachePolicy: ImageRequest.CachePolicy
    /// The changes of the written images as text; `-` if the received bytes are written.
    let changes: String

    init(_ arguments: Arguments, urls: [String]) throws(EideticError) {
        items = Self.items(for: urls)
        rendering = RenderingOptions.rendering(from: arguments)
        format = arguments[EncodingOptions.format]
        quality = arguments[CommonOptions.quality]
        concurrency = arguments[CommonOptions.jobs] ?? 6
        network = try NetworkArguments(arguments)
        let output = arguments[LoadCommand.output]
        self.output = output
        writesOneFile = items.count == 1 && output.map(ConversionOutput.isFile) == true
        usesRemoteNames = arguments.contains(LoadCommand.remoteNames)
        keepsRemoteTime = !arguments.contains(LoadCommand.withoutRemoteTime)
        continues = arguments.contains(LoadCommand.continuation) && !arguments.contains(LoadCommand.check)
        overwrites = arguments.contains(CommonOptions.overwrite)
        contactSheetFile = arguments[LoadCommand.contactSheet]
        graphics = arguments.contains(LoadCommand.show.definition) ? arguments[LoadCommand.show] ?? .detect() : nil
        writesJSON = arguments.contains(CommonOptions.json)
        // Standard output has the image.
        isQuiet = arguments.contains(CommonOptions.quiet) || output == "-" || contactSheetFile == "-"
        explainsLoads = arguments.contains(LoadCommand.explain)
        decodePolicy = SandboxOption.policyOfLoads(from: arguments)
        options = LoadCommand.imageOptions(from: arguments)
            .union(arguments.contains(LoadCommand.check) ? .refreshCached : [])
            .union(rendering.transform == nil ? [] : [.transformAnimatedImage, .transformVectorImage])
        cachePolicy = LoadCommand.cachePolicy(from: arguments)
        let target = rendering.target.map { $0.contentMode == .fit ? "\($0.size)" : $0.key }
        let parts = [target, rendering.transform?.key, format?.rawValue, quality.map { "\($0)" }]
        let text = parts.compactMap(\.self).joined(separator: " ")
        changes = text.isEmpty ? "-" : text
    }

    /// A Boolean value indicating whether images have another size or other pixels than their resource.
    var isChanged: Bool { rendering.size != nil || rendering.transform != nil }

    /// A Boolean value indicating whether the received bytes are written to files, and no pixels are needed.
    var writesBytesOnly: Bool {
        output != nil && !encodesImages && contactSheetFile == nil && graphics == nil
    }

    var encodesImages: Bool { changes != "-" }

    /// The number of URLs in the list, with repetitions.
    var urlCount: Int { items.reduce(0) { $0 + $1.count } }

    private static func items(for urls: [String]) -> [Item] {
        var indices: [String: Int] = [:]
        var items: [Item] = []
        for url in urls {
            if let index = indices[url] {
                items[index].count += 1
            } else {
                indices[url] = items.count
                items.append(Item(url: url))
            }
        }
        return items
    }
}
