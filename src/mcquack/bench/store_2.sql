-- NULL for models whose arithmetic is another library's.
ALTER TABLE outcomes ADD COLUMN numerics INTEGER;

UPDATE outcomes SET numerics = 1
    WHERE model IN ('mcquack', 'quack', 'vc', 'shared_vc') OR model GLOB 'mcquack.*:*';
