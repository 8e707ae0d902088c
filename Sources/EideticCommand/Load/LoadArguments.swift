import Eidetic
import EideticCommandLine
import EideticCore

/// The arguments of `eidetic load`.
struct LoadArguments: Sendable {
    /// A URL of the list and the number of its occurrences.
    struct Item: Sendable {
        let url: String
        /// The name of its output file, without a file extension; empty without an output directory.
        let name: String
        var count = 1

        /// The text below its thumbnail on a contact sheet.
        var caption: String { UniqueFileNames.stem(of: url) }
    }

    /// The distinct URLs, in the order of the list.
    let items: [Item]
    /// The maximum size of the images; `nil` for their own size.
    let size: PixelSize?
    /// The maximum number of concurrent downloads.
    let concurrency: Int
    /// The network options.
    let network: NetworkArguments
    /// The directory to which the images are written.
    let outputDirectory: String?
    /// A Boolean value indicating whether images that an earlier run wrote are left out.
    let continues: Bool
    /// The file of the contact sheet.
    let contactSheetFile: String?
    /// The way in which images are displayed on the terminal.
    let graphics: TerminalGraphics?
    /// A Boolean value indicating whether the output is JSON.
    let writesJSON: Bool
    /// A Boolean value indicating whether the trace of each load is printed.
    let explainsLoads: Bool
    /// The options of the requests, without those that the command itself needs.
    let options: ImageOptions

    init(_ arguments: Arguments, urls: [String]) {
        items = Self.items(for: urls, isNamed: arguments[LoadCommand.outputDirectory] != nil)
        size = arguments[CommonOptions.size]
        concurrency = arguments[LoadCommand.concurrency] ?? 6
        network = NetworkArguments(arguments)
        outputDirectory = arguments[LoadCommand.outputDirectory]
        continues = arguments.contains(LoadCommand.continuation)
        contactSheetFile = arguments[LoadCommand.contactSheet]
        graphics = arguments.contains(LoadCommand.show.definition) ? arguments[LoadCommand.show] ?? .detect() : nil
        writesJSON = arguments.contains(CommonOptions.json)
        explainsLoads = arguments.contains(LoadCommand.explain)
        options = LoadCommand.imageOptions(from: arguments)
    }

    /// The number of URLs in the list, with repetitions.
    var urlCount: Int { items.reduce(0) { $0 + $1.count } }

    private static func items(for urls: [String], isNamed: Bool) -> [Item] {
        var indices: [String: Int] = [:]
        var items: [Item] = []
        var names = UniqueFileNames()
        for url in urls {
            if let index = indices[url] {
                items[index].count += 1
            } else {
                indices[url] = items.count
                items.append(Item(url: url, name: isNamed ? names.next(for: url) : ""))
            }
        }
        return items
    }
}
