package reshardctl.interop;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Loads the library afresh for each application, so that none sees another's static state.
 *
 * <p>Release 3 keeps its stream id cache and a thread pool in statics, and all releases keep the
 * thread factories there by which a log line finds its application. Everything below the library
 * (the SDK, netty, logback) is shared.
 */
final class Isolated extends URLClassLoader {
    private static final String[] OWN = {
        "software.amazon.kinesis.",
        "com.amazonaws.services.kinesis.clientlibrary.",
        "com.amazonaws.services.kinesis.leases.",
        "com.amazonaws.services.kinesis.metrics.",
        // It finds the library's own beans by name, through its own loader.
        "software.amazon.awssdk.enhanced.",
        "reshardctl.interop.worker."
    };
    private static final String WORKER = "reshardctl.interop.worker.Worker";

    static {
        registerAsParallelCapable();
    }

    private Isolated(URL[] path) {
        super(path, Isolated.class.getClassLoader());
    }

    static Application application() throws ReflectiveOperationException {
        var loader = new Isolated(classPath());
        Thread.currentThread().setContextClassLoader(loader);
        var type = Class.forName(WORKER, true, loader);
        return (Application) type.getDeclaredConstructor().newInstance();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (Arrays.stream(OWN).noneMatch(name::startsWith)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            var loaded = findLoadedClass(name);
            return loaded != null ? loaded : findClass(name);
        }
    }

    private static URL[] classPath() {
        var entries = System.getProperty("java.class.path").split(File.pathSeparator);
        return Arrays.stream(entries).map(Isolated::url).toArray(URL[]::new);
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }
}
