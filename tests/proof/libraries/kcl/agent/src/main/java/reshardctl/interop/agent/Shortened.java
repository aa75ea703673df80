package reshardctl.interop.agent;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** A class with one wait replaced, and not one other instruction. */
final class Shortened {
    private int replaced;

    /**
     * The class with the wait replaced.
     *
     * @throws IllegalStateException unless the constant is there exactly once: another release, or
     *     another shape of this one, that has to be looked at first
     */
    static byte[] of(byte[] original, Wait wait) {
        var reader = new ClassReader(original);
        // Writing over the reader keeps the constant pool, so that nothing else is re-encoded.
        var writer = new ClassWriter(reader, 0);
        var work = new Shortened();
        reader.accept(work.visitor(writer, wait), 0);
        if (work.replaced != 1) {
            throw new IllegalStateException(wait + " found " + work.replaced + " times");
        }
        return writer.toByteArray();
    }

    private ClassVisitor visitor(ClassWriter writer, Wait wait) {
        return new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(
                    int access, String name, String shape, String signature, String[] thrown) {
                var method = super.visitMethod(access, name, shape, signature, thrown);
                return name.equals(wait.method()) ? constants(method, wait) : method;
            }
        };
    }

    private MethodVisitor constants(MethodVisitor method, Wait wait) {
        return new MethodVisitor(Opcodes.ASM9, method) {
            @Override
            public void visitLdcInsn(Object constant) {
                var found = constant.equals(wait.stock());
                replaced += found ? 1 : 0;
                super.visitLdcInsn(found ? (Object) wait.wanted() : constant);
            }
        };
    }
}
