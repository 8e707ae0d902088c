import EideticCore

extension ImageResponse: CustomStringConvertible {
    /// The response on one line, as in `jpeg 400x300 of 4000x3000, 1.2 MB from the network in 84.5 ms`.
    ///
    /// The outcome of a revalidation and an error of the disk cache follow, if there are any.
    public var description: String {
        ["\(image)", "\(byteCount) \(source.phrase) in \(trace.duration.millisecondText)", revalidation?.phrase]
            .compactMap(\.self)
            .joined(separator: ", ") + (storeError.map { ", not stored: \($0.message)" } ?? "")
    }
}

extension ImageResponse {
    /// Logs the end of a load.
    func log(to request: ImageRequest) {
        Log.write(.info, category: .pipeline, message: "\(request.name): \(image.size) from \(source)")
        Log.write(
            .debug,
            category: .pipeline,
            message: "\(request.name): \(trace.description.split(separator: "\n").joined(separator: "; "))"
        )
    }
}

extension ImageSource {
    fileprivate var phrase: String {
        switch self {
        case .memory: "from memory"
        case .disk: "from disk"
        case .shared: "from a shared cache"
        case .network: "from the network"
        }
    }
}

extension ImageResponse.Revalidation {
    fileprivate var phrase: String {
        switch self {
        case .unchanged: "unchanged"
        case .changed: "changed"
        case .failed(let error): "not revalidated: \(error.message)"
        }
    }
}
